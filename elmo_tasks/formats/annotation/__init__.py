"""Annotated corpora: columns, trees, spans."""
