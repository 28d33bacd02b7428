"""One request's way through the house."""
