"""Tools for a biLM of any language: preparing text, choosing sizes, scoring sentences, sharing."""
