"""Money: reserved before, settled after."""
