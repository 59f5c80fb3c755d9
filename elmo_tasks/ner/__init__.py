"""Named-entity recognition: CoNLL-2003 columns, biLSTM-CRF, entity F1 (paper, appendix A.7)."""
