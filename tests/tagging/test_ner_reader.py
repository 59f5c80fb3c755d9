"""The NER reader: fields, tag schemes."""

from pathlib import Path
from typing import Any

import pytest
from allennlp.data import Vocabulary

from elmo_tasks.errors import InputError
from elmo_tasks.tasks.tagging.reader import ColumnReader, NerReader
from tests import tiny
from tests.models import metadata

FIXTURES = tiny.FIXTURES / "ner"

WORDS = [
    ["Mira", "Oakes", "left", "Harrow", "for", "Lantern", "Bay", "Ferries", "."],
    ["Reporters", "asked", "Tobin", "Mira", "Oakes", "twice", "."],
    ["Harrow", "Rowing", "Club", "won", "the", "Saltmarsh", "Cup"],
]
TAGS = [
    ["B-PER", "L-PER", "O", "U-LOC", "O", "B-ORG", "I-ORG", "L-ORG", "O"],
    ["O", "O", "U-PER", "B-PER", "L-PER", "O", "O"],
    ["U-LOC", "B-ORG", "L-ORG", "O", "O", "B-MISC", "L-MISC"],
]


@pytest.mark.parametrize("scheme", ["iob1", "bio", "bioul"])
def test_fields_of_each_scheme(scheme: str) -> None:
    file = FIXTURES / f"eng.{scheme}"
    instances = list(NerReader().read(file))
    assert len(instances) == 3
    for place, line in enumerate((3, 13, 23)):
        instance = instances[place]
        words = WORDS[place]
        tags = TAGS[place]
        assert [token.text for token in instance["tokens"]] == words
        assert instance["tags"].labels == tags
        expected = {"words": words, "tags": tags, "file": str(file), "line": line}
        assert metadata(instance) == expected


def test_short_words_have_three_characters_with_their_marks() -> None:
    instance = NerReader().text_to_instance(["a", "."])
    assert "tags" not in instance.fields
    assert metadata(instance)["tags"] is None
    NerReader().apply_token_indexers(instance)
    instance.index_fields(Vocabulary.from_instances([instance]))
    tokens: Any = instance.as_tensor_dict()["tokens"]
    assert tokens["token_characters"]["token_characters"].shape == (2, 3)


def test_the_scheme_is_that_of_the_whole_file(tmp_path: Path) -> None:
    (tmp_path / "eng.train").write_text("Mira B-PER\n\nOakes I-PER\n")
    with pytest.raises(InputError, match="eng.train:3: expected tags of one scheme"):
        list(NerReader(max_instances=1).read(tmp_path / "eng.train"))


def test_comments_are_for_columns(tmp_path: Path) -> None:
    (tmp_path / "eng.train").write_text("# 1\nMira B-PER\n")
    with pytest.raises(InputError, match="eng.train:1: expected a tag such as 'O' or"):
        list(NerReader().read(tmp_path / "eng.train"))
    (one,) = NerReader(comments=True).read(tmp_path / "eng.train")
    assert metadata(one)["words"] == ["Mira"]
    with pytest.raises(InputError, match="where comments is set, got 'upos'"):
        ColumnReader(comments=True)
