"""
Predictions in the scheme of the training file: legal ones, with the chunks of the model.
"""

import json
from pathlib import Path

import pytest
from allennlp.commands.train import train_model
from allennlp.common import Params
from allennlp.data import Vocabulary
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo_tasks.formats.annotation.columns import read_columns
from elmo_tasks.formats.annotation.spans import (
    Scheme,
    Span,
    join_tag,
    spans_from_tags,
)
from elmo_tasks.tasks.tagging.metric import EntityF1
from elmo_tasks.tasks.tagging.model import ColumnTagger
from elmo_tasks.tasks.tagging.predictor import TaggerPredictor
from elmo_tasks.tasks.tagging.reader import ColumnReader
from tests.models import WORDS, word_encoder
from tests.test_flow import elmo_tasks
from tests.tiny import tiny_model

SENTENCES = [
    (["Mira", "Oakes", "of", "Gull"], [Span(0, 2, "PER"), Span(3, 4, "LOC")]),
    (["Rome"], [Span(0, 1, "LOC")]),
    (
        ["Oakes", "Mira", "Rome", "Inn", "Bay"],
        [Span(0, 1, "PER"), Span(1, 2, "PER"), Span(2, 5, "LOC")],
    ),
    (["it", "rained"], []),
]


def write(file: Path, scheme: Scheme) -> list[tuple[list[str], list[str]]]:
    """Write the sentences with tags in a scheme; returns words and tags."""
    lines = []
    written = []
    for words, spans in SENTENCES:
        tags = scheme.encode(spans, len(words))
        written.append((words, tags))
        for word, tag in zip(words, tags, strict=True):
            lines.append(f"{word} {tag}\n")
        lines.append("\n")
    file.write_text("".join(lines))
    return written


@pytest.fixture(scope="module")
def predictors(
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[Scheme, TaggerPredictor]:
    """Of models that are made for a file in a scheme, and dev data in another."""
    found = {}
    for scheme in Scheme:
        folder = tmp_path_factory.mktemp("data")
        write(folder / "train", scheme)
        write(folder / "dev", Scheme.BMES)
        reader = ColumnReader(tag=-1, spans=True, token_indexers=WORDS)
        instances = [*reader.read(folder / "train"), *reader.read(folder / "dev")]
        for one in instances:
            reader.apply_token_indexers(one)
        vocab = Vocabulary.from_instances(instances)
        vocab.save_to_files(str(folder / "vocabulary"))
        loaded = Vocabulary.from_files(str(folder / "vocabulary"))
        model = ColumnTagger(loaded, word_encoder(loaded), spans=True).eval()
        found[scheme] = TaggerPredictor(model, reader)
    return found


TAGS = ["O"] + [
    join_tag(letter, type_) for letter in "BILU" for type_ in ("PER", "LOC")
]


@settings(deadline=None)
@given(
    scheme=st.sampled_from(list(Scheme)),
    tags=st.lists(st.sampled_from(TAGS), min_size=1, max_size=8),
)
def test_tags_are_legal_in_the_scheme_of_the_training_file(
    predictors: dict[Scheme, TaggerPredictor], scheme: Scheme, tags: list[str]
) -> None:
    """Also where the model's are not legal."""
    predictor = predictors[scheme]
    instance = predictor._dataset_reader.text_to_instance(["w"] * len(tags))
    result = predictor.result(instance, {"tags": tags})
    spans = spans_from_tags(tags)
    assert result["tags"] == scheme.encode(spans, len(tags))
    assert spans_from_tags(result["tags"]) == spans
    for entity, span in zip(result["entities"], spans, strict=True):
        assert (entity["token_start"], entity["token_end"], entity["type"]) == span


@pytest.mark.parametrize("scheme", [Scheme.IOB1, Scheme.BIO, Scheme.BIOES])
def test_commands_write_words_and_tags_of_the_file(
    scheme: Scheme, tmp_path: Path
) -> None:
    """Of an untrained model without a CRF, whose own tags are seldom legal."""
    file, found, out = (tmp_path / name for name in ("train", "found", "out"))
    written = write(file, scheme)
    config = {
        "dataset_reader": {"type": "elmo_tasks_ner"},
        "train_data_path": str(file),
        "model": tiny_model("ner") | {"crf": False, "legal": False},
        "data_loader": {"batch_sampler": {"type": "bucket", "batch_size": 2}},
        "trainer": {"num_epochs": 1, "optimizer": "adam", "cuda_device": -1},
    }
    train_model(Params(config), tmp_path / "run")
    options = ("--output-file", out, "--predictions-output-file", found)
    elmo_tasks("evaluate", tmp_path / "run", file, *options)
    scores = json.loads(out.read_text())
    metric = EntityF1()
    decoded = []
    for (words, tags), sentence in zip(written, read_columns(found), strict=True):
        found_words, gold, predicted = sentence.columns
        assert (list(found_words), list(gold)) == (words, tags)
        metric([predicted], [gold])
        decoded.append(list(predicted))
    for name, value in metric.get_metric().items():
        assert scores[name] == value
    lines = tmp_path / "lines.jsonl"
    lines.write_text(
        "".join(json.dumps({"tokens": words}) + "\n" for words, _ in written)
    )
    elmo_tasks("predict", tmp_path / "run", lines, "--output-file", out)
    for line, (words, _), tags in zip(
        out.read_text().splitlines(), written, decoded, strict=True
    ):
        answer = json.loads(line)
        assert (answer["tokens"], answer["tags"]) == (words, tags)
        assert tags == scheme.encode(spans_from_tags(tags), len(tags))
