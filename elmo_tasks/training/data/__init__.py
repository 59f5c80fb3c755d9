"""What part of the data a training reads, in what batches."""
