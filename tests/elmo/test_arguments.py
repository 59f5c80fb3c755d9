"""
Each argument of each public method of `Elmo`: a wrong value is one line, which says
what was expected and what came.
"""

import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from elmo_tasks.bilm import BiLM, batch_to_ids
from elmo_tasks.elmo import Elmo, ElmoVectors
from elmo_tasks.elmo.cache import CacheSettings
from elmo_tasks.elmo.layers import Layers
from elmo_tasks.elmo.model_card import Card, CardSettings
from elmo_tasks.elmo.source_types import SourceSettings
from elmo_tasks.errors import InputError
from elmo_tasks.option_values import BatchSizes, Sizes
from elmo_tasks.pretraining.export import export_run, load_start, load_trained
from elmo_tasks.settings import annotations
from tests.elmo.samples import random_bilm, write_bilm

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


OF_TEXTS: dict[str, Callable[[Elmo, Any], Any]] = {
    "embed": lambda elmo, texts: elmo.embed(texts),
    "embed_sentences": lambda elmo, texts: elmo.embed_sentences(texts),
    "iter_embed": lambda elmo, texts: list(elmo.iter_embed(texts)),
    "embed_batch": lambda elmo, texts: elmo.embed_batch({"tokens": texts}),
    "mean_vectors": lambda elmo, texts: elmo.mean_vectors(texts, ["a"]),
    "words": lambda elmo, texts: elmo.words(texts),
    "__call__": lambda elmo, texts: elmo(texts),
}
"""The methods that take sentences."""

NO_SENTENCES: list[Any] = [
    "one string",
    b"bytes",
    5,
    None,
    {"a": 1},
    {"a"},
    np.array("a"),
    SimpleNamespace(),
    [None],
    [5],
    [b"bytes"],
    [{"a": 1}],
    [{"a"}],
    [np.array("a")],
    [torch.tensor(1)],
    [["a", 1]],
    [["a", None]],
    [["a", b"b"]],
    [[["a"]]],
    ["right", None],
]


def name_of(value: Any) -> str:
    """A test's name is the same in every process: without the address of an object."""
    return re.sub(" at 0x.*", "", repr(value))[:30]


@pytest.mark.parametrize("value", NO_SENTENCES, ids=name_of)
@pytest.mark.parametrize("method", OF_TEXTS)
def test_what_are_no_sentences(elmo: Elmo, method: str, value: Any) -> None:
    expected = "expected a (list of sentences|string or a list of words), got "
    with pytest.raises(InputError, match=expected) as error:
        OF_TEXTS[method](elmo, value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("method", [name for name in OF_TEXTS if name != "__call__"])
def test_a_tensor_is_no_sentences(elmo: Elmo, method: str) -> None:
    for value in (torch.tensor(1), IDS):
        with pytest.raises(InputError, match="expected a .*, got "):
            OF_TEXTS[method](elmo, value)


ANY_PATH: list[Any] = ["", 5, b"x", [], {}, True, "x" * 5000, "\ud800"]
LAYERS: list[Any] = [
    None,
    True,
    1.0,
    [],
    [0, 1],
    {},
    b"top",
    "",
    "tip",
    "x" * 5000,
    "a\0b",
    -1,
    3,
    np.array(1),
    np.array([0, 1]),
    np.array(["top"]),
    np.array(["top", "all"]),
    np.zeros((2, 2)),
    torch.tensor(1),
]
FLAGS: list[Any] = [None, 0, 1, "yes", [], np.array([True, False])]
TOKENIZERS: list[Any] = [
    "",
    "nope",
    "spacy:",
    "spacy:zz",
    5,
    [],
    True,
    np.array([1, 2]),
    lambda text: 1,
]
POOLINGS: list[Any] = ["", "sum", None, 5, [], True, np.array(["mean", "max"])]
SIZES: dict[str, list[Any]] = {
    "max_length": [0, -1, 1.5, True, "5", None, [], 2**31, 10],
    "overlap": [-1, 1.5, True, "5", None, [], 300],
    "batch_size": [0, -1, 1.5, True, "5", None, [], 2**31],
    "max_tokens": [0, -1, 1.5, True, "5", None, [], 2**31],
}
OPENING: dict[str, list[Any]] = {
    "device": ["", "cdua", "meta", "cpu:x", True, 1.5, 99, -2, [], b"cpu", 2**70]
    + [torch.device("meta"), torch.float32, np.array([0, 1])],
    "tokenizer": TOKENIZERS[:-1],
    "precision": ["", "float16", None, 5, [], torch.bfloat16, np.array([1, 2])],
    "cache_dir": ["", 5, b"x", [], True],
    "cache_limit_gb": [0, -1, "x", True, [], float("nan"), float("inf")],
    "offline": FLAGS,
} | SIZES
CARD: list[Any] = ["", " ", 5, True, [], b"la"]
WRONG: dict[str, dict[str, list[Any]]] = {
    "from_pretrained": {"model": [*ANY_PATH, "a\0b", "no such"]} | OPENING,
    "from_files": {
        "options_file": [*ANY_PATH, "a\0b", "no such", None],
        "weight_file": [*ANY_PATH, "a\0b", "no such", None],
    }
    | OPENING,
    "embed": {
        "layers": LAYERS,
        "tensors": FLAGS,
        "progress": FLAGS,
        "tokenizer": TOKENIZERS,
    },
    "iter_embed": {"layers": LAYERS, "tensors": FLAGS, "tokenizer": TOKENIZERS},
    "embed_sentences": {
        "pooling": POOLINGS,
        "layers": LAYERS,
        "tensors": FLAGS,
        "progress": FLAGS,
        "tokenizer": TOKENIZERS,
    },
    "embed_batch": {
        "batch": [None, 5, [], "tokens", {}, {"text": []}],
        "column": ["", "text", None, 5, []],
        "layers": LAYERS,
        "tokenizer": TOKENIZERS,
    },
    "words": {"tokenizer": TOKENIZERS},
    "mean_vectors": {
        "words": ["ab", b"ab", 5, None, [None], [5], {"a"}, ["zz"], np.array("a")],
        "layers": [*LAYERS, "all"],
        "tokenizer": TOKENIZERS,
        "processes": [0, -1, 1.5, True, "2", None, []],
        "progress": [5, "x", True],
    },
    "__call__": {"layers": LAYERS, "tokenizer": TOKENIZERS},
    "save_pretrained": {
        "folder": [None, *ANY_PATH, "a\0b"],
        "format": ["", "HDF5", 5, [], True],
        "language": CARD,
        "license": CARD,
        "text": CARD,
        "perplexity": [0, -1, "5", True, [], float("nan")],
    },
}
"""Wrong values of each argument but the sentences, by method."""

RIGHT: dict[str, dict[str, Any]] = {
    "from_pretrained": {"device": "cpu"},
    "from_files": {"device": "cpu"},
    "embed_batch": {"batch": {"tokens": TEXT}},
    "mean_vectors": {"sentences": TEXT, "words": ["a"]},
    "save_pretrained": {"folder": "out"},
    "words": {"texts": TEXT},
}
"""The other arguments; of methods that are not here `sentences`."""


def called(elmo: Elmo, files: tuple[str, str], method: str, **arguments: Any) -> Any:
    """What a method returns for arguments, of which those in `RIGHT` are defaults."""
    chosen = RIGHT.get(method, {"sentences": TEXT}) | arguments
    if method == "from_files":
        chosen = {"options_file": files[0], "weight_file": files[1]} | chosen
    found = getattr(elmo, method)(**chosen)
    return list(found) if method == "iter_embed" else found


def cases() -> Iterator[tuple[str, str, Any]]:
    for method, arguments in WRONG.items():
        for argument, values in arguments.items():
            for value in values:
                yield method, argument, value


@pytest.mark.parametrize(("method", "argument", "value"), list(cases()), ids=name_of)
def test_a_wrong_value_is_one_line(
    elmo: Elmo, files: tuple[str, str], method: str, argument: str, value: Any
) -> None:
    with pytest.raises(InputError) as error:
        called(elmo, files, method, **{argument: value})
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("method", WRONG)
def test_each_argument_has_wrong_values(method: str) -> None:
    """But `sentences`, which are above."""
    known = set(WRONG[method]) | {"self", "sentences", "texts", "sizes", "card"}
    assert set(inspect.signature(getattr(Elmo, method)).parameters) <= known


def test_keywords_are_the_fields_of_settings() -> None:
    for keywords, settings in ((Sizes, BatchSizes), (Card, CardSettings)):
        assert annotations(keywords) == annotations(settings)


@pytest.mark.parametrize("method", WRONG)
def test_an_unknown_keyword_names_the_method(
    elmo: Elmo, files: tuple[str, str], method: str
) -> None:
    problem = rf"^Elmo\.{method}\(\) got an unexpected keyword argument 'foo'$"
    with pytest.raises(TypeError, match=problem):
        called(elmo, files, method, foo=1)


OTHER_PATHS: dict[str, Callable[[Any], Any]] = {
    "ElmoVectors": ElmoVectors,
    "BiLM.from_files": lambda path: BiLM.from_files(path, path),
    "BiLM.save_files": lambda path: random_bilm().save_files(path, path),
    "Layers.open": lambda path: Layers.open(SourceSettings(model=path)),
    "CacheSettings": lambda path: CacheSettings(cache_dir=path),
    "export_run": lambda path: export_run("run", path),
    "export_run of": lambda path: export_run(path, "out"),
    "load_trained": load_trained,
    "load_start": load_start,
}
"""Other public functions that take a path."""


@pytest.mark.parametrize("function", OTHER_PATHS)
def test_an_empty_path_is_not_the_current_folder(function: str) -> None:
    with pytest.raises(InputError, match="expected a path that is not empty"):
        OTHER_PATHS[function]("")


@pytest.mark.parametrize(
    ("ids", "problem"),
    [
        (
            IDS.float(),
            r"or character ids \[B, T, C\] from batch_to_ids, got a torch.float32 tensor",
        ),
        (IDS.to(torch.complex64), "got a torch.complex64 tensor"),
        (IDS.to(torch.uint8), "got a torch.uint8 tensor"),
        (IDS.bool(), "got a torch.bool tensor"),
        (IDS[0], r"tensor of \(2, 50\)"),
        (IDS[:, :, :49], r"expected shape \[B, T, 50\], got \[2, 2, 49\]"),
        (IDS + 300, "expected 0 to 261, got 300 to"),
        (IDS - 1, "expected 0 to 261, got -1 to"),
        (IDS.flip(1), "padding .* after the tokens, got padding before"),
    ],
)
def test_what_are_no_character_ids(elmo: Elmo, ids: Any, problem: str) -> None:
    with pytest.raises(InputError, match=problem) as error:
        elmo(ids)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("dtype", [torch.int16, torch.int32, torch.uint16])
def test_integers_of_any_size_are_character_ids(elmo: Elmo, dtype: torch.dtype) -> None:
    assert torch.equal(elmo(IDS.to(dtype)).vectors, elmo(IDS).vectors)


def test_a_word_that_is_named_twice_has_two_equal_rows(elmo: Elmo) -> None:
    once = elmo.mean_vectors(["a b a"], ["a", "b"])
    twice = elmo.mean_vectors(["a b a"], ["a", "b", "a"])
    assert np.array_equal(twice, once[[0, 1, 0]])
    assert elmo.mean_vectors(["a"], []).shape == (0, 12)


def test_words_of_texts_and_of_lists_of_words(elmo: Elmo) -> None:
    assert elmo.words(iter(TEXT)) == [["a", "b"], ["c"]]


def test_devices_that_are_there(files: tuple[str, str]) -> None:
    for device in ("cpu", torch.device("cpu")):
        assert Elmo.from_files(*files, device=device).device.type == "cpu"
