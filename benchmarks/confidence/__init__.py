"""How good the judge of the answer is, and what the cascade gains by it."""
