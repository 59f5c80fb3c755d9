"""Gold and predicted labels; tests/tables/test_execute.py has those of a training."""

from types import SimpleNamespace

from elmo_tasks.training.reports.confusion import label_pairs


def test_tokens_are_counted_by_the_types_of_their_spans() -> None:
    batch = {"tags": ..., "metadata": [{"tags": ["U-PER", "O", "B-NN"]}]}
    pairs = label_pairs(SimpleNamespace(), batch, {"tags": [["O", "O", "L-NN"]]})  # type: ignore[arg-type]
    assert list(pairs) == [("PER", "O"), ("O", "O"), ("NN", "NN")]
