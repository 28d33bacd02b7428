"""Questions with known answers, in English and Chinese: what small models are tried on."""
