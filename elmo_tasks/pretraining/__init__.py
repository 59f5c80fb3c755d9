"""
Language-model training and fine-tuning (paper, sections 3.1 and 3.4). Measuring a
language model (`scores`) and its files need no AllenNLP.
"""
