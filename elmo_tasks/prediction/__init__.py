"""What the predictors of the tasks share: input, output, files for the official scorers."""
