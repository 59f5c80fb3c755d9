"""The sources of layers, each in the same form: a biLM, a transformer, and others."""
