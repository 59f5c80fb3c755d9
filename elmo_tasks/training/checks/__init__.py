"""
Checks of a config before training: `construct` tries it on the first instances of its
data, without what would be fetched; `keys` finds unknown keys. `training` calls them.
"""
