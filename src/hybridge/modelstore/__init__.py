"""Local models: which there are, where they lie, and their versions."""
