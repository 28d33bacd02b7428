"""From 32 bits to eight: integers, what they cost, and which layers cost most."""
