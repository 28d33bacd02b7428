"""What keeps a picture from being fetched."""

from __future__ import annotations


class BadPicture(Exception):
    """A picture that cannot be put into its request; what it says names the field, never the URL,
    which may hold a key."""

    def __init__(self, what: str, *, param: str | None = None) -> None:
        """`what`: in words that go on after the field. `param`: the field, once it is known."""
        super().__init__(what if param is None else f"`{param}` {what}")
        self.what = what
        self.param = param
