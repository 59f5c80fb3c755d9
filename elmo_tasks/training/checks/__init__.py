"""Checks of a config before training: `schema` (keys, types, names), `files` (and devices), `sample` (a dry run)."""
