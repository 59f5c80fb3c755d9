"""
Tables and matrices in place of sentences: an error that says what to write. What
choosing a column gives, of any library, is read as a list.
"""

import logging
from collections import UserDict
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas
import pyarrow
import pytest

from elmo_tasks.elmo import Elmo
from elmo_tasks.errors import InputError
from elmo_tasks.pretraining.export import load_trained
from elmo_tasks.pretraining.scores.surprisal import WordSurprisal
from tests.elmo.samples import write_bilm
from tests.pretraining import toy

TEXTS = ["the cook bakes", "bread", "a word more"]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> tuple[Elmo, WordSurprisal]:
    folder = tmp_path_factory.mktemp("models")
    toy.fake_run(folder / "run")
    trained = load_trained(folder / "run")
    surprisal = WordSurprisal(trained.model, trained.vocabulary)
    return Elmo.from_files(*write_bilm(folder)), surprisal


CALLS: dict[str, Callable[[Elmo, WordSurprisal, Any], Any]] = {
    "embed": lambda elmo, _, texts: elmo.embed(texts),
    "encode": lambda elmo, _, texts: elmo.encode(texts),
    "iter_embed": lambda elmo, _, texts: list(elmo.iter_embed(texts)),
    "__call__": lambda elmo, _, texts: elmo(texts),
    "words": lambda elmo, _, texts: elmo.words(texts),
    "mean_vectors": lambda elmo, _, texts: elmo.mean_vectors(texts, ["bread"]),
    "words of mean_vectors": lambda elmo, _, texts: elmo.mean_vectors(TEXTS, texts),
    "embed_batch": lambda elmo, _, texts: elmo.embed_batch({"tokens": texts}),
    "score": lambda _, surprisal, texts: surprisal.score(texts),
    "iter_score": lambda _, surprisal, texts: list(surprisal.iter_score(texts)),
}


OF_SENTENCES = [name for name in CALLS if not name.startswith("words of")]


class Frame:
    """A table of a library that is not installed: iterated, it gives its columns."""

    columns = ("text", "label")

    def __iter__(self) -> Iterator[list[str]]:
        return iter([TEXTS, ["x", "y", "z"]])


FRAME = pandas.DataFrame({"text": TEXTS, "label": ["x", "y", "z"]})
TABLES: dict[str, Any] = {
    "DataFrame": FRAME,
    "DataFrame of a column": FRAME[["text"]],
    "frame": Frame(),
    "Arrow": pyarrow.table({"text": TEXTS}),
    "record batch": pyarrow.record_batch({"text": TEXTS}),
    "matrix": FRAME.to_numpy(),
    "matrix of a column": np.array(TEXTS)[:, None],
    "three dimensions": np.full((2, 1, 1), "bread"),
    "records": np.array([("bread", "x")], dtype=[("text", "O"), ("label", "O")]),
    "dict": {"text": TEXTS},
    "like a dict": UserDict({"text": TEXTS}),
}


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("name", CALLS)
def test_tables_are_refused(
    models: tuple[Elmo, WordSurprisal], name: str, kind: str
) -> None:
    with pytest.raises(InputError, match=r"expected a list of .*, got .*") as error:
        CALLS[name](*models, TABLES[kind])
    assert 'frame["text"]' in str(error.value) or name.startswith("words of")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("name", OF_SENTENCES)
def test_a_table_is_no_sentence(
    models: tuple[Elmo, WordSurprisal], name: str, kind: str
) -> None:
    with pytest.raises(InputError, match="sentence 2: expected a string or a list of"):
        CALLS[name](*models, ["bread", TABLES[kind]])


LISTS: dict[str, Any] = {
    "Series": FRAME["text"],
    "filtered Series": FRAME["text"][[True, True, True]][::1].rename(None),
    "column of a matrix": FRAME.to_numpy()[:, 0],
    "array of objects": np.array(TEXTS, object),
    "array": np.array(TEXTS),
    "column of Arrow": TABLES["Arrow"]["text"],
    "array of Arrow": pyarrow.array(TEXTS),
    "list of Arrow's strings": list(pyarrow.array(TEXTS)),
    "column of records": np.array([(one, 1) for one in TEXTS], "O,i")["f0"],
    "tuple": tuple(TEXTS),
}


@pytest.mark.parametrize("kind", LISTS)
@pytest.mark.parametrize("name", CALLS)
def test_columns_are_lists(
    models: tuple[Elmo, WordSurprisal], name: str, kind: str
) -> None:
    if name == "words of mean_vectors":
        elmo, _ = models
        found = elmo.mean_vectors([TEXTS], LISTS[kind])
        assert np.array_equal(found, elmo.mean_vectors([TEXTS], TEXTS))
        return
    found = CALLS[name](*models, LISTS[kind])
    assert same(found, CALLS[name](*models, TEXTS))


def same(found: Any, expected: Any) -> bool:
    """Whether what two calls return is the same; tensors and arrays are compared."""
    if isinstance(expected, list | tuple):
        pairs = zip(found, expected, strict=True)
        return all(same(one, other) for one, other in pairs)
    if isinstance(expected, dict):
        return same(list(found.items()), list(expected.items()))
    return bool(np.array_equal(found, expected))


@pytest.mark.parametrize("value", [float("nan"), None, pandas.NA])
def test_a_missing_value_is_no_sentence(
    models: tuple[Elmo, WordSurprisal], value: Any
) -> None:
    column = pandas.Series(["bread", value, "a"], dtype=object)
    with pytest.raises(InputError, match="sentence 2: expected a string"):
        models[0].embed(column)


@pytest.mark.parametrize("name", OF_SENTENCES)
def test_words_with_blanks_are_reported_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    toy.fake_run(tmp_path / "run")
    trained = load_trained(tmp_path / "run")
    surprisal = WordSurprisal(trained.model, trained.vocabulary)
    models = Elmo.from_files(*write_bilm(tmp_path)), surprisal
    with caplog.at_level(logging.WARNING):
        CALLS[name](*models, [["bread", "the"], ["one", ""], ["bread"], "the cook"])
        assert caplog.messages == []
        for _ in range(2):
            CALLS[name](*models, [["bread"], [TEXTS[0]], [TEXTS[2]]])
    (message,) = caplog.messages
    assert f"such as {TEXTS[0]!r}" in message


def test_lines_without_numbers(
    models: tuple[Elmo, WordSurprisal], tmp_path: Path
) -> None:
    elmo, _ = models
    lines: list[Any] = [TEXTS, FRAME, TABLES["matrix of a column"], SimpleNamespace()]
    for value in lines:
        with pytest.raises(InputError, match="expected lines with their numbers, got"):
            elmo.write(value, tmp_path / "x.hdf5", settings={})
