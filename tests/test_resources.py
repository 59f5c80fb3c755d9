"""
The data root, and what is said where it is missing; names, scales and copies of the
configs.
"""

from pathlib import Path

import pytest

from elmo_tasks import resources
from elmo_tasks.errors import InputError
from elmo_tasks.training.config import find_config, read_config
from tests.test_flow import elmo_tasks

ROOT = resources.configs_root()


def test_the_data_root_becomes_absolute(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for given, found in (
        ("~/corpora", tmp_path / "corpora"),
        ("here", Path.cwd() / "here"),
        ("", None),
    ):
        monkeypatch.setenv(resources.DATA_VARIABLE, given)
        assert resources.data_root() == found
    monkeypatch.setenv(resources.DATA_VARIABLE, "here")
    assert (
        read_config(find_config("ner", "paper"))["train_data_path"]
        == f"{Path.cwd()}/here/ner/eng.train"
    )


@pytest.mark.parametrize("scale", ["small", "paper"])
def test_a_missing_data_root_is_one_error(
    scale: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(resources.DATA_VARIABLE, raising=False)
    with pytest.raises(
        InputError,
        match=r"ner.jsonnet: ELMO_TASKS_DATA is not set \(.*your corpora",
    ):
        read_config(find_config("ner", scale))
    read_config(find_config("ner"))


def test_names_and_scales() -> None:
    assert find_config("sst_elmo", "small") == str(ROOT / "small/sst_elmo.jsonnet")
    for name, message in (
        ("sst_elm", "nearest: sst_elmo"),
        (str(ROOT / "sst.jsonnet"), "expected the name"),
    ):
        with pytest.raises(InputError, match=message):
            find_config(name, "paper")


@pytest.mark.slow
def test_a_copy_resolves_to_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(resources.DATA_VARIABLE, "/data")
    elmo_tasks("configs", "--copy", tmp_path / "copy")
    for file in sorted((tmp_path / "copy").glob("*/*_elmo.jsonnet")):
        copied, original = (
            read_config(path)
            for path in (file, ROOT / file.relative_to(tmp_path / "copy"))
        )
        assert copied.as_dict(quiet=True) == original.as_dict(quiet=True)
    with pytest.raises(InputError, match="expected a new or an empty folder"):
        elmo_tasks("configs", "--copy", tmp_path / "copy")


def test_two_files_of_the_paper_are_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(resources.DATA_VARIABLE, "/data")
    for name in ("squad.jsonnet", "squad_elmo.jsonnet"):
        (tmp_path / name).write_text((ROOT / "paper" / name).read_text())
    assert read_config(tmp_path / "squad_elmo.jsonnet")["model"]["elmo"]["at"] == "both"
