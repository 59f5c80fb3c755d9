"""
The tagger for column data: which column is read, loss and decoding with and without a
CRF, metrics.
"""

from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.data import Instance, Vocabulary

from elmo_tasks.errors import InputError
from elmo_tasks.tasks.tagging.model import ColumnTagger, TagF1
from elmo_tasks.tasks.tagging.predictor import TaggerPredictor
from elmo_tasks.tasks.tagging.reader import ColumnReader
from tests.models import WORDS, tensors, word_encoder

COLUMNS = (
    "Rome\tPROPN\tB-LOC\nsleeps\tVERB\tO\n\nRome\tPROPN\tB-LOC\nAntium\tPROPN\tB-LOC\n"
)


def instances(file: Path, **keys: Any) -> list[Instance]:
    file.write_text(COLUMNS)
    reader = ColumnReader(token_indexers=WORDS, **keys)
    made = list(reader.read(file))
    for one in made:
        reader.apply_token_indexers(one)
    return made


def tagger(made: list[Instance], **keys: Any) -> ColumnTagger:
    vocab = Vocabulary.from_instances(made)
    return ColumnTagger(vocab, word_encoder(vocab), **keys)


def places(made: list[Instance]) -> ColumnTagger:
    """A model that tags each word as a place."""
    model = tagger(made, spans=True).eval()
    with torch.no_grad():
        model.score_tags.weight.zero_()
        model.score_tags.bias.copy_(
            torch.tensor([float(tag == "U-LOC") for tag in model.tags])
        )
    return model


@pytest.mark.parametrize(
    ("keys", "tags"),
    [
        ({"tag": 1}, [["PROPN", "VERB"], ["PROPN", "PROPN"]]),
        ({"tag": -1, "spans": True}, [["U-LOC", "O"], ["U-LOC", "U-LOC"]]),
        ({"tag": 0, "word": 1}, [["Rome", "sleeps"], ["Rome", "Antium"]]),
    ],
)
def test_columns(tmp_path: Path, keys: dict[str, Any], tags: list[list[str]]) -> None:
    assert [one["tags"].labels for one in instances(tmp_path / "x", **keys)] == tags  # type: ignore[attr-defined]


@pytest.mark.parametrize(("word", "tag"), [(1, 1), (2, -1), (-1, 2)])
def test_one_column_for_words_and_tags(word: int, tag: int, tmp_path: Path) -> None:
    """A tagger would read the tags that it has to predict."""
    file = tmp_path / "x"
    file.write_text("Mira NNP B-PER\nleft VBD O\n")
    problem = f"x:1: expected two columns, got {word} for words and tags"
    with pytest.raises(InputError, match=problem):
        list(ColumnReader(word=word, tag=tag).read(str(file)))


def test_a_missing_column(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r":1: expected columns 0 and 3 \(tag\), counted from 0, got 3"
    ):
        instances(tmp_path / "x", tag=3)


def test_raw_text_is_split_by_the_rules_of_the_readers_language(tmp_path: Path) -> None:
    reader = ColumnReader(tag=1, language="fr", token_indexers=WORDS)
    predictor = TaggerPredictor(tagger(instances(tmp_path / "x", tag=1)).eval(), reader)
    assert predictor.predict("L'eau dort.")["tokens"] == ["L'", "eau", "dort", "."]
    assert "entities" not in predictor.predict("L'eau dort.")
    with pytest.raises(InputError, match="got 'zz'"):
        ColumnReader(language="zz")


def test_spans_are_entities_in_predictions(tmp_path: Path) -> None:
    model = places(instances(tmp_path / "x", tag=2, spans=True))
    predictor = TaggerPredictor(
        model, ColumnReader(tag=2, spans=True, token_indexers=WORDS)
    )
    found = predictor.predict("Rome, Antium")["entities"][-1]
    assert found == {
        "text": "Antium",
        "start": 6,
        "end": 12,
        "type": "LOC",
        "token_start": 2,
        "token_end": 3,
    }


def test_the_loss_is_a_mean_over_words_with_known_tags(tmp_path: Path) -> None:
    made = instances(tmp_path / "x", tag=1)
    model = tagger(made).eval()
    batch = tensors(model.vocab, made)
    scores = model.score(batch["tokens"])["logits"].log_softmax(-1)
    own = scores.gather(2, batch["tags"][:, :, None])[:, :, 0]
    torch.testing.assert_close(model(**batch)["loss"], -own.mean())
    batch["tags"][0, 1] = -1
    torch.testing.assert_close(
        model(**batch)["loss"], -(own[0, 0] + own[1, 0] + own[1, 1]) / 3
    )


def test_scores_of_words_and_of_spans(tmp_path: Path) -> None:
    metric = TagF1()
    metric([["A", "A", "B"]], [["A", "B", "B"]])
    scores = metric.get_metric()
    assert scores["accuracy"] == pytest.approx(2 / 3)
    assert scores["f1"] == pytest.approx((2 / 3 + 2 / 3) / 2) and scores[
        "f1-A"
    ] == pytest.approx(2 / 3)
    made = instances(tmp_path / "x", tag=2, spans=True)
    model = places(made)
    model(**tensors(model.vocab, made))
    assert (
        model.get_metrics()["precision"] == 0.75
        and model.get_metrics()["recall"] == 1.0
    )


def test_data_without_gold_spans_are_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    made = instances(tmp_path / "x", tag=2, spans=True)
    model = places(made)
    model(**tensors(model.vocab, made))
    model.get_metrics(reset=True)
    assert "nothing to score: no gold spans" not in caplog.messages
    for one in made:
        one["metadata"].metadata["tags"] = ["O"] * len(one["tokens"])
    model(**tensors(model.vocab, made))
    assert model.get_metrics(reset=True)["f1"] == 0.0
    assert "nothing to score: no gold spans" in caplog.messages
