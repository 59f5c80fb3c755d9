"""Tests of language-model training."""
