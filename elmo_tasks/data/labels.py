"""Label fields for labels that a trained model has never seen: one takes them, one tells of them."""

from allennlp.data import Vocabulary
from allennlp.data.fields import LabelField, SequenceLabelField

from elmo_tasks.errors import InputError

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


class KnownLabelField(LabelField):
    """AllenNLP's field, but that a label outside the vocabulary is an `InputError` in place of a `KeyError`."""

    def index(self, vocab: Vocabulary) -> None:
        """
        # Raises

        `InputError`
            If the vocabulary lacks the label.
        """
        known = vocab.get_token_to_index_vocabulary(self._label_namespace)
        if self.label not in known:
            listed = ", ".join(sorted(known))
            raise InputError(f"the label {self.label!r} is none of those that the model was made with: {listed}")
        super().index(vocab)
