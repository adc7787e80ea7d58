"""`python -m snellen` is the command `snellen`."""

from snellen.cli import main

main(prog_name="snellen")
