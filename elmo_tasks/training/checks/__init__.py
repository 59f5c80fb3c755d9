"""
Checks of a config before training: `schema` (keys, types, names; `arguments` and
`ranges` say what constructors take), `regexes`, `files` (and devices), `libraries`, and
`sample` (a dry run on the `first_instances`). `training` calls them.
"""
