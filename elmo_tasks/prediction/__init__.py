"""Input, output and official prediction files of the tasks' predictors."""
