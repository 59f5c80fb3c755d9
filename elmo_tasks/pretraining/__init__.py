"""Language-model training and fine-tuning (paper, sections 3.1 and 3.4)."""
