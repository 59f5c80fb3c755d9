"""The task models: reader, model, metric and predictor of each."""
