"""Language-model training and fine-tuning (paper, sections 3.1 and 3.4)."""

from elmo_tasks.host import load_allennlp

load_allennlp()
