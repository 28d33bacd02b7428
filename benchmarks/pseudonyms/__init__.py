"""How often placeholders come back from a model as they went out."""
