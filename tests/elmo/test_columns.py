"""
Tables and matrices in place of sentences: an error that says what to write. What
choosing a column gives, of any library, is read as a list.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas
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
    "__call__": lambda elmo, _, texts: elmo(texts),
    "words of mean_vectors": lambda elmo, _, texts: elmo.mean_vectors(TEXTS, texts),
    "score": lambda _, surprisal, texts: surprisal.score(texts),
}


class Frame:
    """A table of a library that is not installed: iterated, it gives its columns."""

    columns = ("text", "label")

    def __iter__(self) -> Iterator[list[str]]:
        return iter([TEXTS, ["x", "y", "z"]])


FRAME = pandas.DataFrame({"text": TEXTS, "label": ["x", "y", "z"]})
TABLES: dict[str, Any] = {
    "DataFrame": FRAME,
    "frame": Frame(),
    "matrix": FRAME.to_numpy(),
    "dict": {"text": TEXTS},
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


LISTS: dict[str, Any] = {
    "Series": FRAME["text"],
    "array": np.array(TEXTS),
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


def test_lines_without_numbers(
    models: tuple[Elmo, WordSurprisal], tmp_path: Path
) -> None:
    elmo, _ = models
    lines: list[Any] = [TEXTS, FRAME, TABLES["matrix"], SimpleNamespace()]
    for value in lines:
        with pytest.raises(InputError, match="expected lines with their numbers, got"):
            elmo.write(value, tmp_path / "x.hdf5", settings={})
