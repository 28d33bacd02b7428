"""Answers given twice."""
