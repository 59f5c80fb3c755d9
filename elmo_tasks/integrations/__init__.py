"""ELMo in other libraries. Only the adapter of a library imports it."""
