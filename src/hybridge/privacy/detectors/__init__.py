"""One family of personal data each: a function from a `View` to the findings in it."""
