"""Bricks that two or more tasks use; `lowest_layers` is the one place where ELMo meets a task model."""
