"""The labels of a trained model, and new data with others, which it cannot learn."""

from collections.abc import Mapping

from allennlp.common.util import namespace_match
from allennlp.data import Vocabulary

from elmo_tasks.errors import InputError


def label_counts(vocab: Vocabulary) -> dict[str, int]:
    """The number of labels in each namespace of labels."""
    counts = {}
    for namespace in vocab.get_namespaces():
        for pattern in vocab._non_padded_namespaces:
            if namespace_match(pattern, namespace):
                counts[namespace] = vocab.get_vocab_size(namespace)
    return counts


def require_no_new_labels(vocab: Vocabulary, counts: Mapping[str, int]) -> None:
    """
    Raises `InputError` if a vocabulary has more labels than a model was made for.
    """
    for namespace, count in counts.items():
        new = []
        for number in range(count, vocab.get_vocab_size(namespace)):
            new.append(vocab.get_token_from_index(number, namespace))
        if new:
            problem = f"the data have {namespace} that the trained model does not have"
            hint = "it cannot predict them: remove them, or train a new model"
            raise InputError(f"{problem}: {', '.join(new[:10])}", hint=hint)
