"""Exactly resumable training: checkpoints, and the state that they contain."""
