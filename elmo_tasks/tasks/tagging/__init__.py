"""A tagger for your own column data: any language, any tags."""
