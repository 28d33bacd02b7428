"""Client vocabularies: each a translation, at the edge of the house, of the one spoken inside."""
