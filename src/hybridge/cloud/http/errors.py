"""What can go wrong between here and an upstream."""

from __future__ import annotations


class Unreachable(Exception):
    """The upstream could not be reached, or hung up, or said what is no HTTP."""


class Stale(Unreachable):
    """A connection that had been idle was hung up before one byte of the answer had come."""


class TooSlow(Exception):
    """A limit on waiting for an answer passed; the upstream may still be at work on it."""
