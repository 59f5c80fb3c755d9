"""Label fields for labels that are not in the vocabulary of a trained model."""

from allennlp.data import Vocabulary
from allennlp.data.fields import SequenceLabelField

UNKNOWN_LABEL = -1
"""The index of a label that is not in the vocabulary."""


class OpenSequenceLabelField(SequenceLabelField):
    """
    AllenNLP's field, except that labels outside the vocabulary have the index `UNKNOWN_LABEL` instead of raising a
    `KeyError`, so that a model can be evaluated on a corpus with more labels.
    """

    def index(self, vocab: Vocabulary) -> None:
        known = vocab.get_token_to_index_vocabulary(self._label_namespace)
        self._indexed_labels = [known.get(label, UNKNOWN_LABEL) for label in self.labels]
