"""Modules that two or more tasks use. `input_encoder` is the only place where ELMo meets a task model."""
