"""Labels in the vocabulary, and labels that are not in that of a trained model."""

from collections.abc import Iterable

from allennlp.data import Vocabulary
from allennlp.data.fields import SequenceLabelField

LABEL_NAMESPACE = "labels"
"""The vocabulary namespace of labels and tags."""

UNKNOWN_LABEL = -1
"""The index of a label that is not in the vocabulary."""


def complete_labels(vocab: Vocabulary, expected: Iterable[str] = ()) -> list[str]:
    """
    All labels by id, after adding the expected ones that do not occur in the data. AllenNLP saves the vocabulary, and
    indexes the data, after constructing the model.
    """
    for label in expected:
        vocab.add_token_to_namespace(label, LABEL_NAMESPACE)
    return list(vocab.get_token_to_index_vocabulary(LABEL_NAMESPACE))


class OpenSequenceLabelField(SequenceLabelField):
    """
    AllenNLP's field, except that labels outside the vocabulary have the index `UNKNOWN_LABEL` instead of raising a
    `KeyError`, so that a model can be evaluated on a corpus with more labels.
    """

    def index(self, vocab: Vocabulary) -> None:
        known = vocab.get_token_to_index_vocabulary(self._label_namespace)
        self._indexed_labels = [known.get(label, UNKNOWN_LABEL) for label in self.labels]
