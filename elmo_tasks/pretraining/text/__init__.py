"""Raw text -> the text and the batches of a language model."""
