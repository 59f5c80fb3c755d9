"""Label fields that take labels which a trained model has never seen."""

from allennlp.data import Vocabulary
from allennlp.data.fields import SequenceLabelField

UNKNOWN_LABEL = -1
"""The index of a label that the vocabulary lacks."""


class OpenSequenceLabelField(SequenceLabelField):
    """
    AllenNLP's field, but for labels outside the vocabulary: they get the index `UNKNOWN_LABEL` where AllenNLP raises a
    `KeyError`, so that a model can be scored on a corpus with more labels than it knows. Padding is 0, as there.
    """

    def index(self, vocab: Vocabulary) -> None:
        """Looks the labels up; they are kept as strings, too."""
        known = vocab.get_token_to_index_vocabulary(self._label_namespace)
        self._indexed_labels = [known.get(label, UNKNOWN_LABEL) for label in self.labels]
