"""Files of corpora: their names in configs, and in the official releases."""

from pathlib import Path

import pytest

from elmo_tasks.formats.corpora import CORPORA, DataFile, files_of, located

FILES = [file for files in CORPORA.values() for file in files]


@pytest.mark.parametrize("file", FILES)
def test_names_of_the_releases(file: DataFile, tmp_path: Path) -> None:
    """
    Files appear in the reverse order, so that each is preferred to those before it.
    """
    assert located(tmp_path / file.name) == str(tmp_path / file.name)
    for official in reversed([file.name, *file.official]):
        path = tmp_path / official.replace("[0-9]", "7").replace("*", "07")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        assert located(tmp_path / file.name) == f"{tmp_path}/{official}"


def test_other_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees/dev.txt").touch()
    for given, expected in (
        ("~/x", f"{tmp_path}/x"),
        ("~/sst/dev.txt", f"{tmp_path}/trees/dev.txt"),
        (f"{tmp_path}/asst/dev.txt", f"{tmp_path}/asst/dev.txt"),
        (f"{tmp_path}/sst/dev.txt.gz", f"{tmp_path}/sst/dev.txt.gz"),
        ("sst/dev.txt", "sst/dev.txt"),
        ("/sst/dev.txt", "/sst/dev.txt"),
        ("", ""),
    ):
        assert located(given) == expected


def test_files_of_a_name(tmp_path: Path) -> None:
    for name in ("b1", "a1", "c[1]", "d"):
        (tmp_path / name).touch()
    for name, expected in (
        ("?1", ["a1", "b1"]),
        ("[ab]*", ["a1", "b1"]),
        ("d", ["d"]),
        ("e", []),
        ("c[[]*", ["c[1]"]),
        (".", [""]),
    ):
        assert files_of(tmp_path, name) == [tmp_path / one for one in expected]
