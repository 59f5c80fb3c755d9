"""Raw text and columns of tables -> lines, words and sentences."""
