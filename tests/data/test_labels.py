"""Labels that the vocabulary lacks."""

from allennlp.data import Token, Vocabulary
from allennlp.data.fields import TextField

from elmo_tasks.data.labels import UNKNOWN_LABEL, OpenSequenceLabelField


def test_unknown_labels_are_marked_and_padding_is_zero() -> None:
    text = TextField([Token(word) for word in ("to", "Harrow", "Bay")])
    field = OpenSequenceLabelField(["O", "B-SEA", "L-SEA"], text)
    field.index(Vocabulary(counter={"labels": {"O": 3, "U-LOC": 1}}))
    assert field.as_tensor({"num_tokens": 5}).tolist() == [0, UNKNOWN_LABEL, UNKNOWN_LABEL, 0, 0]
    assert field.labels == ["O", "B-SEA", "L-SEA"]
