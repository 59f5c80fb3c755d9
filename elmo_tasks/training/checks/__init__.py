"""Checks of a config before training: `schema` (keys, types, names), then `files` (and devices)."""
