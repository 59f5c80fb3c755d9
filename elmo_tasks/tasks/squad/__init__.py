"""Question answering: SQuAD v1.1, bidirectional attention and self-attention, EM and F1 (paper, appendix A.4)."""
