"""Files -> plain records."""
