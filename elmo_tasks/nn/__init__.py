"""Modules that two or more models use, and where ELMo meets them."""

from elmo_tasks.host import load_allennlp

load_allennlp()
