"""A thousand streams at once, some of which break: is everything given back?"""
