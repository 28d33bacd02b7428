"""Local models: which there are and where they lie."""
