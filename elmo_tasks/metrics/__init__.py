"""Scores that two or more tasks share."""
