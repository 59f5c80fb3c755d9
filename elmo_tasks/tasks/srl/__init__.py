"""Semantic role labeling: CoNLL-2012 columns, the deep highway biLSTM, srl-eval.pl's F1 (paper, appendix A.5)."""
