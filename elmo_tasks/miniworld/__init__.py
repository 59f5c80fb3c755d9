"""
The embedded world: a seeded grammar of English-like text, from which the corpora under
`fixtures/miniworld/` come.

The flow: `names` and `world` give entities and their relations; `sentence` picks a topic and a
construction; `constructions`, `subjects` and `clause` turn them into tokens with annotation
(`annotation`), drawing on the tables in `frames_*` and `phrases` through the pattern language of
`pattern` and `scene`; each view (`text`, `ner`) projects the annotated sentences onto a file format;
`generate` writes the files.

A new view is a function from `seed` to the texts of its files, entered in `generate.VIEWS`. It draws
from a `Dice` with a purpose of its own, so that the other views' files stay as they are. Its own
vocabulary belongs in tables of its own: a line added to a table that others draw from changes their
files too.
"""
