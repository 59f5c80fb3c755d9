"""The committed corpora are what the generator writes, and writing is all or nothing."""

from pathlib import Path

import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.miniworld import generate
from elmo_tasks.miniworld.generate import VIEWS, generate_all, write_all
from elmo_tasks.miniworld.text import text_files

COMMITTED = Path(__file__).resolve().parents[2] / "fixtures" / "miniworld"


@pytest.fixture(scope="module")
def generated() -> dict[str, str]:
    return generate_all()


def files_below(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_committed_files_are_regenerated_byte_for_byte(generated: dict[str, str]) -> None:
    views = {path.split("/")[0] for path in generated}
    committed = {f"{view}/{path}": raw for view in views for path, raw in files_below(COMMITTED / view).items()}
    assert sorted(committed) == sorted(generated) and len(generated) >= 17
    for path, text in generated.items():
        assert committed[path] == text.encode("utf-8"), f"{path} differs: `make worlds` was not run"


def test_files_are_small_and_plain(generated: dict[str, str]) -> None:
    assert sum(len(text) for text in generated.values()) < 6_000_000
    assert all(text.isascii() and "\r" not in text and text.endswith("\n") for text in generated.values())


def test_text_is_one_sentence_a_line(generated: dict[str, str]) -> None:
    lines = {name: generated[f"lm/{name}.miniworld.txt"].splitlines() for name in ("train", "heldout")}
    assert {name: len(found) for name, found in lines.items()} == {"train": 20000, "heldout": 2000}
    assert not set(lines["train"]) & set(lines["heldout"])
    every = lines["train"] + lines["heldout"]
    assert len(set(every)) == len(every)
    assert all(4 <= len(line.split(" ")) <= 35 for line in every)


def test_write_all_writes_every_view(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generate, "VIEWS", {"a": lambda *, seed: {"a/x.txt": f"é {seed}\n"}, "b": two_files})
    write_all(tmp_path / "out", seed=5)
    assert files_below(tmp_path / "out") == {"a/x.txt": "é 5\n".encode(), "b/y": b"y\n", "b/z": b"z\n"}


def two_files(*, seed: int) -> dict[str, str]:
    return {"b/y": "y\n", "b/z": "z\n"}


def test_a_failing_view_leaves_everything_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*, seed: int) -> dict[str, str]:
        raise ZeroDivisionError

    monkeypatch.setattr(generate, "VIEWS", {"b": two_files, "c": failing})
    with pytest.raises(ZeroDivisionError):
        write_all(tmp_path)
    assert files_below(tmp_path) == {}


def test_an_unwritable_place_leaves_the_other_files_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generate, "VIEWS", {"b": two_files, "c": lambda *, seed: {"c/w": "w\n"}})
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "y").write_text("old\n")
    (tmp_path / "c").write_text("a file where a folder is wanted\n")
    with pytest.raises(InputError, match="cannot write"):
        write_all(tmp_path)
    assert files_below(tmp_path) == {"b/y": b"old\n", "c": b"a file where a folder is wanted\n"}


def test_views_are_registered() -> None:
    assert list(VIEWS) == ["lm", "ner", "snli", "sst", "srl", "squad", "coref"]


def test_another_seed_gives_another_world(generated: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("elmo_tasks.miniworld.text.SIZES", {"lm/train.miniworld.txt": 50})
    same, other = text_files(seed=13), text_files(seed=14)
    assert generated["lm/train.miniworld.txt"].startswith(same["lm/train.miniworld.txt"])
    assert same != other
