"""Metrics that two or more tasks use."""
