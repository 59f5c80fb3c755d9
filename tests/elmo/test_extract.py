"""Files of vectors: what is in them, the same bytes however often the writing was killed, and what is refused."""

import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from elmo_tasks.bilm import BiLM, batch_to_ids
from elmo_tasks.elmo import ElmoVectors, extract_fill, extract_frame
from elmo_tasks.elmo.extract import extract
from elmo_tasks.elmo.extract_fill import Progress
from elmo_tasks.elmo.extract_frame import write_frame
from elmo_tasks.elmo.extraction import Extraction
from elmo_tasks.elmo.vectors import DONE, OFFSETS
from elmo_tasks.errors import InputError
from tests.disk import file_size_limit
from tests.elmo.samples import random_bilm
from tests.hdf5_elsewhere import move

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


def extraction(bilm: BiLM, **changes: Any) -> Extraction:
    settings = {"input": "text", "tokenizer": "white space", **changes.pop("settings", {})}
    return Extraction(**{"bilm": bilm, "settings": settings, "max_length": 10, "overlap": 4, **changes})


def numbered(text: list[str]) -> Iterator[tuple[int, str]]:
    return iter(list(enumerate(text, start=1)))


def written(bilm: BiLM, out: Path, text: list[str] = TEXT, **changes: Any) -> ElmoVectors:
    extract(extraction(bilm, **changes), numbered(text), out)
    return ElmoVectors(out)


def layers(bilm: BiLM, tokens: list[str]) -> np.ndarray:
    """A sentence alone: [L+1, T, 2P]."""
    return bilm(batch_to_ids([tokens])).layers[:, 0].numpy()


def test_every_line_has_its_vectors(bilm: BiLM, tmp_path: Path) -> None:
    with written(bilm, tmp_path / "out.hdf5", max_length=20, batch_size=3) as vectors:
        assert len(vectors) == len(TEXT)
        for index, (array, tokens) in enumerate(zip(vectors, TOKENS, strict=True)):
            assert array.dtype == np.float32
            assert array.shape == (3, len(tokens), 12)
            assert np.allclose(array, layers(bilm, tokens), atol=1e-6)
            assert vectors.tokens(index) == tokens
            assert vectors.sentence(index) == TEXT[index].strip()
    assert os.listdir(tmp_path) == ["out.hdf5"]


def test_the_top_layer_and_the_average(bilm: BiLM, tmp_path: Path) -> None:
    wanted = layers(bilm, TOKENS[0])
    top, average = (written(bilm, tmp_path / output, output=output) for output in ("top", "average"))
    assert np.allclose(top[0], wanted[-1], atol=1e-6)
    assert np.allclose(average[0], wanted.mean(0), atol=1e-6)
    assert (top[1].shape, average[1].shape) == ((0, 12), (0, 12))
    assert (top.layer_names, average.layer_names) == (["layer 2"], ["mean of layers 0 to 2"])


def test_float16_is_the_rounded_value(bilm: BiLM, tmp_path: Path) -> None:
    half, full = written(bilm, tmp_path / "half", float16=True), written(bilm, tmp_path / "full")
    assert half[3].dtype == np.float16
    assert np.array_equal(half[3], full[3].astype(np.float16))


def test_a_value_too_large_for_float16_is_told(tmp_path: Path) -> None:
    bilm = random_bilm().eval().requires_grad_(False)
    bilm.token_encoder.projection.bias[0] = 1e5
    with pytest.raises(InputError, match=r"^line 3: a value is too large for float16 \(use float32\)$"):
        written(bilm, tmp_path / "out", float16=True)
    assert not (tmp_path / "out").exists()


def test_a_long_line_is_read_in_windows(bilm: BiLM, tmp_path: Path) -> None:
    found, tokens = written(bilm, tmp_path / "out")[5], TOKENS[5]
    assert len(tokens) == 17
    parts = [layers(bilm, tokens[:10])[:, :8], layers(bilm, tokens[6:16])[:, 2:6], layers(bilm, tokens[7:])[:, 5:]]
    assert np.allclose(found, np.concatenate(parts, 1), atol=1e-6)


def test_the_batch_changes_nothing(bilm: BiLM, tmp_path: Path) -> None:
    sizes = [{"batch_size": 1}, {"batch_size": 50}, {"max_tokens": 12}]
    first, *others = [written(bilm, tmp_path / str(number), **size) for number, size in enumerate(sizes)]
    for other in others:
        for one, two in zip(first, other, strict=True):
            assert np.allclose(one, two, atol=1e-6)


def test_a_file_as_users_of_allennlp_know_it(bilm: BiLM, tmp_path: Path) -> None:
    written(bilm, tmp_path / "out").close()
    with h5py.File(tmp_path / "out", "r") as file:
        places = json.loads(file["sentence_to_index"][0])
        assert places == {"The harbour froze over .": "0", "one": "6", TEXT[3]: "3", TEXT[5]: "5"}
        assert np.allclose(file[places["one"]][...], layers(bilm, ["one"]), atol=1e-6)
        assert set(file) == {*map(str, range(len(TEXT))), "sentence_to_index", "index"}


def test_the_file_tells_what_it_is(bilm: BiLM, tmp_path: Path) -> None:
    vectors = written(bilm, tmp_path / "out", settings={"weights_sha256": "abc", "options_file": "o.json"})
    info = vectors.info
    assert vectors.layer_names == ["layer 0, context-free", "layer 1", "layer 2"]
    wanted = {
        "output": "all",
        "state": "reset",
        "precision": "float32",
        "dtype": "float32",
        "max_length": 10,
        "overlap": 4,
        "device": "cpu",
    }
    wanted |= {"weights_sha256": "abc", "tokenizer": "white space", "sentences": 7, "tokens": 29, "blank_lines": 2}
    wanted |= {"long_lines": 1, "pieces": 7, "elmo_tasks": "0.1.0"}
    assert {key: info[key] for key in wanted} == wanted


class Killed(Exception):
    """In place of a kill: nobody catches it."""


def kill_after(batches: int) -> Any:
    """A `report` that dies at a batch, which is in the file but perhaps not counted there yet."""
    heard: list[Progress] = []

    def report(progress: Progress) -> None:
        heard.append(progress)
        if len(heard) == batches:
            raise Killed

    return report


@pytest.mark.parametrize("counted", [True, False])
def test_killed_again_and_again_it_ends_with_the_same_bytes(
    bilm: BiLM, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, counted: bool
) -> None:
    monkeypatch.setattr(extract_fill, "_POOL_TOKENS", 12)
    monkeypatch.setattr(extract_fill, "_SECONDS_APART", -1.0 if counted else 1e9)
    what, out = extraction(bilm, batch_size=2), tmp_path / "out"
    written(bilm, tmp_path / "whole", batch_size=2).close()
    seen: list[Progress] = []
    for batches in (1, 2, 3):
        with pytest.raises(Killed):
            extract(what, numbered(TEXT), out, report=kill_after(batches))
        assert sorted(os.listdir(tmp_path)) == ["out.part", "whole"]
    extract(what, numbered(TEXT), out, report=seen.append)
    assert out.read_bytes() == (tmp_path / "whole").read_bytes()
    assert seen[-1].tokens == seen[-1].all_tokens == 29
    assert (seen[-1].fresh_tokens < 29) == counted


def test_killed_while_it_reads_the_text_it_leaves_nothing(bilm: BiLM, tmp_path: Path) -> None:
    def text() -> Iterator[tuple[int, str]]:
        yield 1, "one"
        raise Killed

    with pytest.raises(Killed):
        extract(extraction(bilm), text(), tmp_path / "out")
    assert os.listdir(tmp_path) == []


def test_killed_before_the_last_step(bilm: BiLM, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All is there but the name."""
    written(bilm, tmp_path / "out").close()
    wanted = (tmp_path / "out").read_bytes()
    (tmp_path / "out").rename(tmp_path / "out.part")
    seen: list[Progress] = []
    extract(extraction(bilm), numbered(TEXT), tmp_path / "out", report=seen.append)
    assert (seen, (tmp_path / "out").read_bytes()) == ([], wanted)


def interrupted(bilm: BiLM, out: Path, monkeypatch: pytest.MonkeyPatch) -> bytes:
    monkeypatch.setattr(extract_fill, "_SECONDS_APART", -1.0)
    with pytest.raises(Killed):
        extract(extraction(bilm, batch_size=1), numbered(TEXT), out, report=kill_after(2))
    return out.with_name("out.part").read_bytes()


CHANGES = [
    ({"output": "top"}, "output was all, is top"),
    ({"float16": True}, "dtype was float32, is float16"),
    ({"max_length": 11}, "max_length was 10, is 11"),
    ({"settings": {"tokenizer": "JSON"}}, "tokenizer was white space, is JSON"),
    ({"settings": {"weights_sha256": "abc"}}, "weights_sha256 was None, is abc"),
]


@pytest.mark.parametrize("finished", [True, False])
@pytest.mark.parametrize(("changes", "message"), CHANGES)
def test_another_call_does_not_go_on(
    bilm: BiLM,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    changes: dict[str, Any],
    message: str,
    finished: bool,
) -> None:
    out = tmp_path / "out"
    if finished:
        written(bilm, out).close()
    else:
        interrupted(bilm, out, monkeypatch)
    (file,) = tmp_path.iterdir()
    before = file.read_bytes()
    with pytest.raises(InputError, match=f"^{file}: was begun by another call: .*{message}.*--force"):
        written(bilm, out, **changes)
    assert (file.read_bytes(), os.listdir(tmp_path)) == (before, [file.name])


def test_another_text_does_not_go_on(bilm: BiLM, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = interrupted(bilm, tmp_path / "out", monkeypatch)
    for text in (TEXT[:-1], [*TEXT, "more"], ["Another", *TEXT[1:]]):
        with pytest.raises(InputError, match=r"out.part: was begun by another call: the text's sha256 was .*, is "):
            written(bilm, tmp_path / "out", text)
    assert (tmp_path / "out.part").read_bytes() == before


def test_moved_files_and_other_batches_go_on(bilm: BiLM, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupted(bilm, tmp_path / "out", monkeypatch)
    found = written(bilm, tmp_path / "out", batch_size=3, settings={"input": "moved"})
    for one, other in zip(found, written(bilm, tmp_path / "whole"), strict=True):
        assert np.allclose(one, other, atol=1e-6)


def test_force_starts_anew(bilm: BiLM, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupted(bilm, tmp_path / "out", monkeypatch)
    extract(extraction(bilm, output="top"), numbered(["a b"]), tmp_path / "out", force=True)
    extract(extraction(bilm), numbered(["a b c"]), tmp_path / "out", force=True)
    assert ElmoVectors(tmp_path / "out")[0].shape == (3, 3, 12)


def test_force_keeps_the_old_file_until_the_new_one_is_there(bilm: BiLM, tmp_path: Path) -> None:
    written(bilm, tmp_path / "out").close()
    before = (tmp_path / "out").read_bytes()
    with pytest.raises(InputError, match="a sentence or more was wanted"):
        extract(extraction(bilm), numbered([]), tmp_path / "out", force=True)
    assert (tmp_path / "out").read_bytes() == before and len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("name", ["5", DONE, OFFSETS])
def test_a_part_that_leads_elsewhere_is_refused(
    bilm: BiLM, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    interrupted(bilm, tmp_path / "out", monkeypatch)
    move(tmp_path / "out.part", name, "an external link")
    with pytest.raises(InputError, match=f"out.part: expected '{name}' in the file itself, got an external link "):
        written(bilm, tmp_path / "out")


@pytest.mark.parametrize("name", ["max_length", "tokens", "sentences", "text_sha256"])
def test_a_part_with_a_damaged_attribute_is_one_error(
    bilm: BiLM, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    interrupted(bilm, tmp_path / "out", monkeypatch)
    with h5py.File(tmp_path / "out.part", "r+") as part:
        part.attrs[name] = np.array([1, 2])
    with pytest.raises(InputError, match="out.part: the file is damaged: "):
        written(bilm, tmp_path / "out")


def test_two_processes_do_not_write_one_file(bilm: BiLM, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = interrupted(bilm, tmp_path / "out", monkeypatch)
    part = tmp_path / "out.part"
    with part.open("rb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(InputError, match=f"^{part}: another process is writing this file$"):
            written(bilm, tmp_path / "out")
    assert part.read_bytes() == before


def test_a_disk_without_room_is_told_before_the_work(
    bilm: BiLM, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(tmp_path)._replace(free=3_000_000)
    monkeypatch.setattr(extract_frame.shutil, "disk_usage", lambda path: usage)
    with pytest.raises(InputError, match=r"expected room for 21\.0 MB or more .* on the disk, got 3\.0 MB \(--fl"):
        written(bilm, tmp_path / "out")
    assert os.listdir(tmp_path) == []


def test_a_frame_without_room_is_one_error_wherever_it_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """HDF5 crashes the process when it cannot write, so that it must never have to."""
    monkeypatch.setattr(extract_frame, "_AHEAD", 0)
    text = [" ".join(["x" * 200] * 2_000)] * 20 + ["a b", ""] * 500
    shape = extract_frame.Shape(3, 4, np.dtype("float32"))
    settings = {"input": "text", "max_length": 10, "overlap": 4}

    def fits(limit: int) -> bool:
        with file_size_limit(limit):
            try:
                write_frame(tmp_path / "out", numbered(text), parse=str.split, shape=shape, settings=settings)
            except InputError as error:
                assert "cannot write: File too large" in str(error) and os.listdir(tmp_path) == []
                return False
        (tmp_path / "out").unlink()
        return True

    found = [fits(limit) for limit in (50, 5_000, *range(5_000_000, 80_000_000, 5_000_000))]
    assert found == sorted(found) and not found[5] and found[-1]


def test_a_disk_that_fills_up_keeps_what_is_there(bilm: BiLM, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: object) -> int:
        raise OSError(28, "No space left on device")

    interrupted(bilm, tmp_path / "out", monkeypatch)
    with monkeypatch.context() as patch:
        patch.setattr(extract_fill.os, "pwrite", full)
        with pytest.raises(
            InputError, match=r"out.part: cannot write: No space left on device \(what is there is kept"
        ):
            written(bilm, tmp_path / "out", batch_size=1)
    written(bilm, tmp_path / "out", batch_size=1)
    written(bilm, tmp_path / "whole", batch_size=1)
    assert (tmp_path / "out").read_bytes() == (tmp_path / "whole").read_bytes()


def test_what_cannot_be(bilm: BiLM, tmp_path: Path) -> None:
    for changes, message in (
        ({"output": "bottom"}, "output must be one of all, top, average, found 'bottom'"),
        ({"overlap": 6}, "overlap must be from 0 to half of max_length, 5, found 6"),
        ({"batch_size": 0}, "batch_size must be a whole number of at least 1, found 0"),
        ({"bilm": random_bilm_that_carries()}, "the biLM's state must be reset, found carry"),
    ):
        with pytest.raises(InputError, match=f"^{message}$"):
            extraction(**{"bilm": bilm, **changes})
    with pytest.raises(InputError, match="the input has no line$"):
        written(bilm, tmp_path / "out", [])
    for name, message in (
        ("out.part", r"the name of a file was wanted that does not end in \.part"),
        (".", "a file was wanted, this is a folder"),
    ):
        with pytest.raises(InputError, match=message):
            written(bilm, tmp_path / name)
    assert os.listdir(tmp_path) == []


def random_bilm_that_carries() -> BiLM:
    bilm = random_bilm()
    bilm.state = "carry"
    return bilm


def test_a_text_of_blank_lines_alone(bilm: BiLM, tmp_path: Path) -> None:
    assert [array.shape for array in written(bilm, tmp_path / "out", ["", " "])] == [(3, 0, 12)] * 2
