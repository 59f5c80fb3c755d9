"""What a trained language model says of a text: perplexity, surprisal, pairs."""
