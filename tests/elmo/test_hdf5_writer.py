"""Writing files of vectors: their contents, resumption after an interruption, and invalid input."""

import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from filelock import FileLock

from elmo_tasks.bilm import BiLM, batch_to_ids
from elmo_tasks.elmo import ElmoVectors
from elmo_tasks.elmo import hdf5_writer as module
from elmo_tasks.elmo.batching import BatchSizes
from elmo_tasks.elmo.hdf5_writer import write_vectors
from elmo_tasks.elmo.vector_model import VectorModel
from elmo_tasks.elmo.windows import Window, windows
from elmo_tasks.errors import InputError
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


def write(bilm: BiLM, text: Iterable[str], out: Path, **changes: Any) -> bool:
    """`write_vectors` with small windows; `changes` are options of all parts."""
    of_model = {key: changes.pop(key) for key in ("output", "stored") if key in changes}
    sizes = {"max_length": 10, "overlap": 4}
    sizes |= {key: changes.pop(key) for key in ("max_length", "overlap", "batch_size", "max_tokens") if key in changes}
    settings = {"input": "text", "tokenizer": "white space", **changes.pop("settings", {})}
    model = VectorModel(bilm=bilm, **of_model)
    return write_vectors(model, enumerate(text, start=1), out, sizes=BatchSizes(**sizes), settings=settings, **changes)


def written(bilm: BiLM, out: Path, text: list[str] = TEXT, **changes: Any) -> ElmoVectors:
    write(bilm, text, out, **changes)
    return ElmoVectors(out)


def layers(bilm: BiLM, tokens: list[str]) -> np.ndarray:
    """The layers [L+1, T, 2P] of a single sentence."""
    return bilm(batch_to_ids([tokens])).layers[:, 0].numpy()


@pytest.mark.parametrize("sizes", [{"batch_size": 3}, {"max_tokens": 12}], ids=str)
def test_each_line_has_its_vectors_whatever_the_batch(bilm: BiLM, tmp_path: Path, sizes: dict[str, int]) -> None:
    with written(bilm, tmp_path / "out.hdf5", max_length=20, **sizes) as vectors:
        assert len(vectors) == len(TEXT)
        for index, (array, tokens) in enumerate(zip(vectors, TOKENS, strict=True)):
            assert array.dtype == np.float32 and array.shape == (3, len(tokens), 12)
            assert np.allclose(array, layers(bilm, tokens), atol=1e-6)
            assert vectors.tokens(index) == tokens and vectors.sentence(index) == TEXT[index].strip()
    assert os.listdir(tmp_path) == ["out.hdf5"]


def test_top_layer_average_and_float16(bilm: BiLM, tmp_path: Path) -> None:
    expected = layers(bilm, TOKENS[0])
    top, average = (written(bilm, tmp_path / output, output=output) for output in ("top", "average"))
    assert np.allclose(top[0], expected[-1], atol=1e-6)
    assert np.allclose(average[0], expected.mean(0), atol=1e-6)
    assert (top.layer_names, average.layer_names) == (["layer 2"], ["mean of layers 0 to 2"])
    for output in ("all", "top"):  # also of windows
        small, wide = (
            written(bilm, tmp_path / f"{stored} {output}", stored=stored, output=output)
            for stored in ("int8", "float32")
        )
        assert small[0].dtype == np.float32 and h5py.File(small.file)["0"].dtype == np.int8
        for one, exact in zip(small, wide, strict=True):
            assert (np.abs(one - exact) <= np.abs(exact).max(-1, keepdims=True) / 254 + 1e-6).all()
    half = written(bilm, tmp_path / "half", stored="float16", output="top")
    assert half[3].dtype == np.float16 and np.array_equal(half[3], top[3].astype(np.float16))


def test_long_lines_are_split_into_windows(bilm: BiLM, tmp_path: Path) -> None:
    found, tokens = written(bilm, tmp_path / "out")[5], TOKENS[5]
    parts = [layers(bilm, tokens[:10])[:, :8], layers(bilm, tokens[6:16])[:, 2:6], layers(bilm, tokens[7:])[:, 5:]]
    assert np.allclose(found, np.concatenate(parts, 1), atol=1e-6)


def context(window: Window, token: int, length: int) -> float:
    """The number of tokens between a token and the nearer end of a window that is not an end of the sentence."""
    left = float("inf") if window.start == 0 else token - window.start
    right = float("inf") if window.end == length else window.end - 1 - token
    return min(left, right)


@pytest.mark.parametrize(("limit", "overlap"), [(1, 0), (2, 1), (7, 0), (8, 4), (9, 4), (10, 2)])
def test_each_token_comes_from_the_window_with_most_context(limit: int, overlap: int) -> None:
    for length in range(40):
        found = windows(length, limit=limit, overlap=overlap)
        assert [token for window in found for token in range(window.first, window.last)] == list(range(length))
        assert all(window.end - window.start == min(length, limit) for window in found)
        for window in found:
            for token in range(window.first, window.last):
                there = [w for w in found if w.start <= token < w.end]
                assert context(window, token, length) == max(context(w, token, length) for w in there)


def test_datasets_and_attributes(bilm: BiLM, tmp_path: Path) -> None:
    """The datasets and `sentence_to_index` are those of AllenNLP 0.x."""
    with written(bilm, tmp_path / "out", settings={"weights_sha256": "abc"}) as vectors:
        info, names = vectors.info, vectors.layer_names
    with h5py.File(tmp_path / "out", "r") as file:
        indices = json.loads(file["sentence_to_index"][0])
        assert indices == {"The harbour froze over .": "0", "one": "6", TEXT[3]: "3", TEXT[5]: "5"}
        assert np.allclose(file[indices["one"]][...], layers(bilm, ["one"]), atol=1e-6)
        assert set(file) == {*map(str, range(len(TEXT))), "sentence_to_index", "index"}
    assert names == ["layer 0, context-free", "layer 1", "layer 2"]
    expected = {"output": "all", "dtype": "float32", "max_length": 10, "weights_sha256": "abc", "sentences": 7}
    expected |= {"tokens": 29, "blank_lines": 2, "long_lines": 1, "pieces": 7}
    assert {key: info[key] for key in expected} == expected


class Killed(Exception):
    """Stands for a kill."""


def kill_after(batches: int) -> Callable[[int], None]:
    """A `progress` that raises after some batches have been written."""
    seen: list[int] = []

    def progress(tokens: int) -> None:
        if tokens:
            seen.append(tokens)
        if len(seen) == batches:
            raise Killed

    return progress


@pytest.mark.parametrize("marked", [True, False])
def test_interrupted_calls_end_with_the_same_bytes(
    bilm: BiLM, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, marked: bool
) -> None:
    """Whether or not the last batch was counted."""
    monkeypatch.setattr(module, "_SORTED_SENTENCES", 3)
    monkeypatch.setattr(module, "_SECONDS_BETWEEN_SAVES", -1.0 if marked else 1e9)
    out = tmp_path / "out"
    written(bilm, tmp_path / "whole", batch_size=2).close()
    for batches in (1, 2, 3):
        with pytest.raises(Killed):
            write(bilm, TEXT, out, batch_size=2, progress=kill_after(batches))
        assert sorted(os.listdir(tmp_path)) == ["out.part", "whole"]
    tokens: list[int] = []
    assert write(bilm, TEXT, out, batch_size=2, progress=tokens.append)
    assert out.read_bytes() == (tmp_path / "whole").read_bytes()
    assert sum(tokens) == 29
    out.rename(tmp_path / "out.part")  # interrupted before the last step
    assert write(bilm, TEXT, out, batch_size=2)
    assert not write(bilm, TEXT, out, batch_size=2)
    assert out.read_bytes() == (tmp_path / "whole").read_bytes()


@pytest.fixture
def part(bilm: BiLM, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that an interrupted call has left."""
    monkeypatch.setattr(module, "_SECONDS_BETWEEN_SAVES", -1.0)
    with pytest.raises(Killed):
        write(bilm, TEXT, tmp_path / "out", batch_size=1, progress=kill_after(2))
    return tmp_path / "out.part"


@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"stored": "float16", "output": "top"}, "output was 'all', is 'top'; .* dtype was 'float32', is 'float16'"),
        ({"text": TEXT[:-1]}, "text_sha256 was "),
    ],
)
def test_a_call_with_other_settings_does_not_resume(
    bilm: BiLM, part: Path, changes: dict[str, Any], message: str, complete: bool
) -> None:
    file = part.with_name("out") if complete else part
    if complete:
        written(bilm, file).close()
    before = file.read_bytes()
    with pytest.raises(InputError, match=f"^{file}: was begun by another call: .*{message}.*--force"):
        written(bilm, part.with_name("out"), **changes)
    assert (file.read_bytes(), os.listdir(file.parent)) == (before, [file.name])


def test_moved_files_and_other_batch_sizes_resume(bilm: BiLM, part: Path, tmp_path: Path) -> None:
    found = written(bilm, tmp_path / "out", batch_size=3, settings={"input": "moved"})
    for one, other in zip(found, written(bilm, tmp_path / "whole"), strict=True):
        assert np.allclose(one, other, atol=1e-6)


def test_force_keeps_the_old_file_until_the_new_one_is_complete(bilm: BiLM, part: Path, tmp_path: Path) -> None:
    write(bilm, ["a b"], tmp_path / "out", output="top", force=True)
    with pytest.raises(InputError, match="expected at least one sentence"):
        write(bilm, [], tmp_path / "out", force=True)
    assert ElmoVectors(tmp_path / "out")[0].shape == (2, 12) and os.listdir(tmp_path) == ["out"]


def test_two_processes_do_not_write_one_file(bilm: BiLM, part: Path) -> None:
    before = part.read_bytes()
    with FileLock(f"{part}.lock"), pytest.raises(InputError, match=f"^{part}: another process is writing this file$"):
        written(bilm, part.with_name("out"))
    assert part.read_bytes() == before


def test_disk_space_is_reserved_before_the_first_vector(
    bilm: BiLM, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(InputError, match=r"cannot reserve [0-9,]+ bytes .* No space left on device \(--int8"):
        written(bilm, tmp_path / "out")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("limit", [50, 5_000, 500_000])
def test_a_full_disk_is_one_error_whatever_is_being_written(bilm: BiLM, tmp_path: Path, limit: int) -> None:
    """HDF5 itself would crash the process."""
    text = [" ".join(["x" * 200] * 2_000)] * 2 + ["a b", ""] * 300
    with file_size_limit(limit), pytest.raises(InputError, match="cannot write: File too large"):
        written(bilm, tmp_path / "out", text)
    assert os.listdir(tmp_path) == []


def test_a_disk_that_fills_up_keeps_the_vectors(bilm: BiLM, part: Path, tmp_path: Path) -> None:
    written(bilm, tmp_path / "whole", batch_size=1).close()
    with (
        file_size_limit(part.stat().st_size // 2),
        pytest.raises(InputError, match=r"out.part: cannot write: File too large \(free some disk space"),
    ):
        written(bilm, tmp_path / "out", batch_size=1)
    written(bilm, tmp_path / "out", batch_size=1).close()
    assert (tmp_path / "out").read_bytes() == (tmp_path / "whole").read_bytes()


def test_a_value_too_large_for_float16_names_its_line(tmp_path: Path) -> None:
    bilm = random_bilm().eval().requires_grad_(False)
    bilm.token_encoder.projection.bias[0] = 1e5
    with pytest.raises(InputError, match=r"^line 3: a value is too large for float16 \(use float32\)$"):
        written(bilm, tmp_path / "out", stored="float16")
    assert not (tmp_path / "out").exists()


def test_invalid_settings(bilm: BiLM, tmp_path: Path) -> None:
    carrying = random_bilm()
    carrying.state = "carry"
    for changes, message in (
        ({"output": "bottom"}, "output: expected one of all, top, average, got 'bottom'"),
        ({"overlap": 6}, "overlap: expected a number from 0 to half of max_length, 5, got 6"),
        ({"batch_size": 0}, "batch_size: .* got 0"),
        ({"max_length": 0}, "max_length: .* got 0"),
        ({"bilm": carrying}, "state reset, got carry"),
    ):
        with pytest.raises(InputError, match=f"{message}$"):
            write(**{"bilm": bilm, "text": TEXT, "out": tmp_path / "out", **changes})
