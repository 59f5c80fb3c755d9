"""The paper's results, to print next to ours: the data, and the scores of the released biLM."""

TABLE_5_DATA = "Senseval-2 and -3, SemEval-2013 and -2015"
TABLE_5 = {"first sense": 65.9, "biLM 1": 67.4, "biLM 2": 69.0, "CoVe 1": 59.4, "CoVe 2": 64.7}
"""F1 of word senses over `TABLE_5_DATA`, by row: the source's name and the layer."""

TABLE_6_DATA = "Penn Treebank, WSJ"
TABLE_6 = {"biLM 1": 97.3, "biLM 2": 96.8, "CoVe 1": 93.3, "CoVe 2": 92.8}
"""Accuracy of parts of speech on `TABLE_6_DATA`."""
