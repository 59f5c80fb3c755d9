"""Tests of the tagger for column data."""
