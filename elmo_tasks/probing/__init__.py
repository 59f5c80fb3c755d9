"""Frozen layers under a nearest neighbour or a linear map: senses, parts of speech, neighbours (paper, section 5.3)."""
