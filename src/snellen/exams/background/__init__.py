"""Does the scenery change its mind, and which scenery?"""
