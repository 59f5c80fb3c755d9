"""Modules that two or more models use, and where ELMo meets them."""
