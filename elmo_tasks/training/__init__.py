"""Training that can be broken off anywhere and goes on bit for bit: trainer, place in the data, random numbers."""
