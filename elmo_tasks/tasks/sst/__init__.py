"""Sentiment: Stanford Sentiment Treebank, biattentive classification network, accuracy (paper, appendix A.8)."""
