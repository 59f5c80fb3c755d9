"""ELMo in other libraries, each of which is imported by its adapter alone."""
