"""What a gateway adds to a request, beside its peers, in one run."""
