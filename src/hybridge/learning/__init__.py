"""What comparisons of both tiers teach."""
