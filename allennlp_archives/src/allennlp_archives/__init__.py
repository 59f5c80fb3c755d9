"""Opens archives of AllenNLP and allennlp-models for `elmo-tasks`."""
