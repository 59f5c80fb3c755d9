"""Tests of the embedded world."""
