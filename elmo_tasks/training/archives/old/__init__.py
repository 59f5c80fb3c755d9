"""What archives of allennlp-models and of older libraries need in addition."""
