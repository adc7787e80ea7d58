"""Subjects that write a program from a handful of pictures and answer by it."""
