"""Folders in place of configurations, which Jsonnet does not survive."""

from pathlib import Path

import pytest
from allennlp.common import Params
from allennlp.models import load_archive

from elmo_tasks.errors import InputError


def test_a_folder_is_no_configuration(tmp_path: Path) -> None:
    (tmp_path / "config.json").mkdir()
    for read in (lambda: Params.from_file(tmp_path / "config.json"), lambda: load_archive(tmp_path)):
        with pytest.raises(InputError, match=f"^{tmp_path}/config.json: expected a configuration file, got a folder$"):
            read()


def test_a_file_and_its_overrides_are_read(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"seed": 1}')
    assert Params.from_file(tmp_path / "config.json", '{"seed": 2}').as_dict() == {"seed": 2}
