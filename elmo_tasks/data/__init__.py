"""
Corpus formats that two or more tasks use.

Nothing is imported here: text files, columns and spans need no AllenNLP.
"""
