"""Tests of the tools for a biLM of any language."""
