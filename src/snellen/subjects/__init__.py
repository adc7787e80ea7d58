"""Whoever can be examined, a file for each kind."""
