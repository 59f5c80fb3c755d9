"""Corpus formats, fields and samplers that two or more tasks use."""
