"""`python -m hybridge`."""

from hybridge.cli import main

main()
