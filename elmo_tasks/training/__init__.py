"""
Exactly resumable training: the trainer, the position in the data, random number
generators.
"""
