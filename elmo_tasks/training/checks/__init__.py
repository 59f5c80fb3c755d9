"""
Checks of a config before training: `construct` tries it on a `sample` of its data, and
`blame` says which key an error is about; `top_level` has the keys of the whole config,
`files`, `libraries` and `regexes` what constructing does not find. `training` calls
them.
"""
