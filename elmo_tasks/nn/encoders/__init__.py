"""The recurrent encoders of the task models."""
