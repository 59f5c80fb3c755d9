"""
What `Elmo` takes and refuses beyond the types of its arguments, which
tests/test_arguments.py tries.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from elmo_tasks.bilm import batch_to_ids
from elmo_tasks.elmo import Elmo
from elmo_tasks.errors import InputError
from elmo_tasks.pretraining.export import load_start
from tests.elmo.samples import write_bilm

TEXT = ["a b", ["c"]]
IDS = batch_to_ids([["a", "b"], ["c"]])


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    return write_bilm(tmp_path_factory.mktemp("bilm"))


@pytest.fixture(scope="module")
def elmo(files: tuple[str, str]) -> Elmo:
    return Elmo.from_files(*files)


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The current folder, in which nothing may be written."""
    monkeypatch.chdir(tmp_path)
    yield
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("value", [torch.tensor(1), IDS], ids=["number", "ids"])
def test_a_tensor_is_no_sentences(elmo: Elmo, value: torch.Tensor) -> None:
    for method in (elmo.embed, elmo.iter_embed, elmo.encode, elmo.words):
        with pytest.raises(InputError, match="expected a list of sentences, got "):
            list(method(value))  # type: ignore[arg-type]


def test_a_mean_of_all_layers(elmo: Elmo) -> None:
    with pytest.raises(InputError, match="layers: expected"):
        elmo.mean_vectors(TEXT, ["a"], layers="all")


def test_windows_that_overlap_by_more_than_half(files: tuple[str, str]) -> None:
    for sizes in ({"max_length": 10}, {"overlap": 300}):
        with pytest.raises(InputError, match="overlap: expected at most half"):
            Elmo.from_files(*files, **sizes)


def test_no_model() -> None:
    with pytest.raises(InputError, match="expected a path without NUL"):
        Elmo.from_pretrained("a\0b")
    with pytest.raises(InputError, match="no such model"):
        load_start("")


def test_an_unknown_keyword_names_the_method(elmo: Elmo) -> None:
    problem = r"^Elmo\.embed\(\) got an unexpected keyword argument 'foo'$"
    with pytest.raises(TypeError, match=problem):
        elmo.embed(TEXT, foo=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=problem.replace("embed", "from_pretrained")):
        Elmo.from_files(foo=1)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("ids", "problem"),
    [
        (IDS.float(), r"from batch_to_ids, got a torch.float32 tensor"),
        (IDS.to(torch.uint8), "got a torch.uint8 tensor"),
        (IDS + 300, "expected 0 to 261, got 300 to"),
        (IDS - 1, "expected 0 to 261, got -1 to"),
        (IDS[:, :, :49], r"expected shape \[B, T, 50\], got \[2, 2, 49\]"),
        (IDS.flip(1), "padding .* after the tokens, got padding before"),
    ],
)
def test_what_are_no_character_ids(elmo: Elmo, ids: Any, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        elmo(ids)


@pytest.mark.parametrize("files", [{"option_file": "x"}, {"precision": "int8"}])
def test_files_have_their_own_keys(files: dict[str, str]) -> None:
    with pytest.raises(InputError, match=f"files: expected the keys .*{[*files][0]}"):
        Elmo.from_pretrained(files=files)
    with pytest.raises(InputError, match="expected a model or files, got both"):
        Elmo.from_files("options.json", "weights.hdf5", model="bundled")


def test_a_word_that_is_named_twice_has_two_equal_rows(elmo: Elmo) -> None:
    once = elmo.mean_vectors(["a b a"], ["a", "b"])
    twice = elmo.mean_vectors(["a b a"], ["a", "b", "a"])
    assert np.array_equal(twice, once[[0, 1, 0]])
    assert elmo.mean_vectors(["a"], []).shape == (0, 12)
