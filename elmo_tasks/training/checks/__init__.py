"""
Checks of a config before training: `construct` tries it on the first instances of its
data, in `part`s; `keys` finds unknown keys, and `fetched` what is not constructed.
`training` calls them.
"""
