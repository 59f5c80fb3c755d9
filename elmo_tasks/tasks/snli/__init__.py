"""Textual entailment: SNLI pairs, the ESIM sequence model, accuracy (paper, appendix A.3)."""
