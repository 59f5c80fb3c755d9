"""
What AllenNLP's trainer takes to train a language model: model, data loader and
vocabulary, callbacks. Importing it imports AllenNLP.
"""

from elmo_tasks.host import load_allennlp

load_allennlp()
