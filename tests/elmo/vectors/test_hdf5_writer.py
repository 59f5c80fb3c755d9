"""Writing files of vectors: their contents, interruptions, and invalid input."""

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import torch

from elmo_tasks.bilm import BiLM, batch_to_ids
from elmo_tasks.elmo import Elmo, ElmoVectors
from elmo_tasks.elmo.layers import Layers
from elmo_tasks.elmo.vector_model import VectorModel, first_not_finite
from elmo_tasks.elmo.vectors.hdf5_writer import write_vectors
from elmo_tasks.errors import InputError
from elmo_tasks.option_values import BatchSizes
from tests.disk import file_size_limit
from tests.elmo.samples import random_bilm

TEXT = [
    "The harbour froze over .",
    "",
    "one",
    "Ångström übt 日本語 🙂 .",
    "   ",
    "a b c d e f g h i j k l m n o p q",
    "one",
]
TOKENS = [line.split() for line in TEXT]


@pytest.fixture(scope="module")
def bilm() -> BiLM:
    return random_bilm().eval().requires_grad_(False)


def write(bilm: BiLM, text: Iterable[str], out: Path, **changes: Any) -> None:
    """`write_vectors` with small windows; `changes` are options of all parts."""
    of_model = {}
    for key in ("output", "stored"):
        if key in changes:
            of_model[key] = changes.pop(key)
    sizes = {"max_length": 10, "overlap": 4}
    for key in ("max_length", "overlap", "batch_size", "max_tokens"):
        if key in changes:
            sizes[key] = changes.pop(key)
    settings = {"input": "text", "tokenizer": "white space"}
    settings |= changes.pop("settings", {})
    model = VectorModel(layers=Layers(bilm), **of_model)
    write_vectors(
        model,
        enumerate(text, start=1),
        out,
        sizes=BatchSizes(**sizes),
        settings=settings,
        **changes,
    )


def written(
    bilm: BiLM, out: Path, text: list[str] = TEXT, **changes: Any
) -> ElmoVectors:
    write(bilm, text, out, **changes)
    return ElmoVectors(out)


def layers(bilm: BiLM, tokens: list[str]) -> np.ndarray:
    """The layers [L+1, T, 2P] of a single sentence."""
    return bilm(batch_to_ids([tokens])).layers[:, 0].numpy()


def test_top_layer_average_and_float16(bilm: BiLM, tmp_path: Path) -> None:
    expected = layers(bilm, TOKENS[0])
    top = written(bilm, tmp_path / "top", output="top")
    average = written(bilm, tmp_path / "average", output="average")
    assert np.allclose(top[0], expected[-1], atol=1e-6)
    assert np.allclose(average[0], expected.mean(0), atol=1e-6)
    for output in ("all", "top"):  # also of windows
        out = tmp_path / f"int8 {output}"
        small = written(bilm, out, stored="int8", output=output)
        out = tmp_path / f"float32 {output}"
        wide = written(bilm, out, stored="float32", output=output)
        assert (
            small[0].dtype == np.float32 and h5py.File(small.file)["0"].dtype == np.int8
        )
        for one, exact in zip(small, wide, strict=True):
            assert (
                np.abs(one - exact) <= np.abs(exact).max(-1, keepdims=True) / 254 + 1e-6
            ).all()
    half = written(bilm, tmp_path / "half", stored="float16", output="top")
    assert half[3].dtype == np.float16 and np.array_equal(
        half[3], top[3].astype(np.float16)
    )


@pytest.mark.parametrize("output", ["all", "top", "average"])
@pytest.mark.parametrize("pooling", ["mean", "max", "first", "last"])
def test_a_vector_per_sentence(
    bilm: BiLM, tmp_path: Path, output: str, pooling: str
) -> None:
    """As `Elmo.encode` pools, also over windows; zero for a blank line."""
    elmo = Elmo(Layers(bilm), max_length=10, overlap=4)
    expected = elmo.encode(TOKENS, pooling=pooling, layers=output)
    with written(bilm, tmp_path / "out", output=output, pooling=pooling) as found:
        assert found.info["pooling"] == pooling
        assert found.tokens(0) == TOKENS[0]
        np.testing.assert_allclose(np.stack(list(found)), expected, atol=1e-6)
        assert not found[1].any()


def test_a_vector_per_sentence_takes_little_space(bilm: BiLM, tmp_path: Path) -> None:
    text = [" ".join(["word"] * 1_000)]
    with file_size_limit(500_000):
        write(bilm, text, tmp_path / "out", pooling="mean")
    with pytest.raises(InputError, match="int8: expected vectors of tokens"):
        write(bilm, text, tmp_path / "int8", pooling="mean", stored="int8")


def test_an_unknown_pooling_is_an_error_before_anything_is_written(
    bilm: BiLM, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="pooling: expected 'mean', .*, got 'sum'"):
        write(bilm, TEXT, tmp_path / "out", progress=pytest.fail, pooling="sum")
    assert list(tmp_path.iterdir()) == []


def test_long_lines_are_split_into_windows(bilm: BiLM, tmp_path: Path) -> None:
    found, tokens = written(bilm, tmp_path / "out")[5], TOKENS[5]
    parts = [
        layers(bilm, tokens[:10])[:, :8],
        layers(bilm, tokens[6:16])[:, 2:6],
        layers(bilm, tokens[7:])[:, 5:],
    ]
    assert np.allclose(found, np.concatenate(parts, 1), atol=1e-6)


def test_datasets_and_attributes(bilm: BiLM, tmp_path: Path) -> None:
    """The datasets and `sentence_to_index` are those of AllenNLP 0.x."""
    with written(bilm, tmp_path / "out", settings={"weights_sha256": "abc"}) as vectors:
        info = vectors.info
    with h5py.File(tmp_path / "out", "r") as file:
        indices = json.loads(file["sentence_to_index"][0])
        assert indices == {
            "The harbour froze over .": "0",
            "one": "6",
            TEXT[3]: "3",
            TEXT[5]: "5",
        }
        assert np.allclose(file[indices["one"]][...], layers(bilm, ["one"]), atol=1e-6)
        assert set(file) == {*map(str, range(len(TEXT))), "sentence_to_index", "index"}
    expected = {
        "output": "all",
        "dtype": "float32",
        "max_length": 10,
        "weights_sha256": "abc",
        "sentences": 7,
    }
    expected |= {"tokens": 29, "blank_lines": 2, "long_lines": 1}
    assert {key: info[key] for key in expected} == expected


def test_an_interrupted_call_leaves_nothing_and_an_existing_file_stays(
    bilm: BiLM, tmp_path: Path
) -> None:
    def interrupt(tokens: int) -> None:
        raise KeyboardInterrupt

    for name in ("out", "new"):
        (tmp_path / "out").write_text("mine")
        with pytest.raises(KeyboardInterrupt):
            write(bilm, TEXT, tmp_path / name, progress=interrupt, force=True)
        assert (
            os.listdir(tmp_path) == ["out"] and (tmp_path / "out").read_text() == "mine"
        )
    with pytest.raises(InputError, match="out: the file exists"):
        write(bilm, TEXT, tmp_path / "out")
    assert written(bilm, tmp_path / "out", ["a b"], output="top", force=True)[
        0
    ].shape == (2, 12)


def test_the_text_is_checked_before_the_first_vector(
    bilm: BiLM, tmp_path: Path
) -> None:
    for line, problem in (("a\0b", "NUL"), ("\ud800", "surrogate")):
        lines = iter([["one"]] * 1999 + [[line]])

        def parse(_: str, lines: Iterator[list[str]] = lines) -> list[str]:
            return next(lines)

        with pytest.raises(InputError, match=f"^text:2000: .*{problem}"):
            write(
                bilm,
                ["one"] * 2000,
                tmp_path / "out",
                parse=parse,
                progress=pytest.fail,
            )
    with pytest.raises(InputError, match="expected at least one sentence"):
        write(bilm, [], tmp_path / "out")


@pytest.mark.parametrize("limit", [50, 5_000, 500_000, 900_000])
def test_a_full_disk_is_an_error_before_the_first_vector(
    bilm: BiLM, tmp_path: Path, limit: int
) -> None:
    """HDF5 itself would crash the process."""
    text = [" ".join(["x" * 200] * 1_000)] * 2 + ["a b", ""] * 300
    with (
        file_size_limit(limit),
        pytest.raises(
            InputError, match=r"out: cannot (reserve|write).*: File too large \("
        ),
    ):
        write(bilm, text, tmp_path / "out", progress=pytest.fail)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "text",
    [
        ["a"],
        ["é" * 3000 + str(n) for n in range(50)],
        ["\x01" * 99] * 3,
        ["a b", ""] * 500,
    ],
)
def test_the_reserved_space_is_enough(
    bilm: BiLM, tmp_path: Path, text: list[str], monkeypatch: Any
) -> None:
    reserved: list[int] = []

    def reserve(file: int, start: int, size: int) -> None:
        reserved.append(size)

    monkeypatch.setattr(os, "posix_fallocate", reserve)
    write(bilm, text, tmp_path / "out", stored="int8")
    size = (tmp_path / "out").stat().st_size
    assert size <= reserved[0] < 2**17 + 5 * size


def test_a_value_too_large_for_float16_names_its_line(tmp_path: Path) -> None:
    bilm = random_bilm().eval().requires_grad_(False)
    bilm.token_encoder.projection.bias[0] = 1e5
    with pytest.raises(
        InputError, match=r"^text:3: a value is too large for float16 \(use float32\)$"
    ):
        written(bilm, tmp_path / "out", stored="float16")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_the_sentence_with_a_value_that_is_not_finite(value: float) -> None:
    vectors = torch.zeros(3, 4, 5, 6)
    assert first_not_finite(vectors, ["a", "b", "c", "d"]) is None
    vectors[1, 2, 3, 4] = value
    vectors[2, 3, 4, 5] = -value
    assert first_not_finite(vectors, ["a", "b", "c", "d"]) == "c"


def test_a_sum_may_be_larger_than_all_numbers() -> None:
    vectors = torch.full((3, 4, 5, 6), 3e38)
    assert first_not_finite(vectors, ["a", "b", "c", "d"]) is None
    assert first_not_finite(torch.zeros(3, 0, 5, 6), []) is None
