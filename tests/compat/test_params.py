"""Paths that are not config files."""

from pathlib import Path

import pytest
from allennlp.common import Params
from allennlp.models import load_archive

from elmo_tasks.errors import InputError


def test_folder_is_not_a_config(tmp_path: Path) -> None:
    (tmp_path / "config.json").mkdir()
    for read in (lambda: Params.from_file(tmp_path / "config.json"), lambda: load_archive(tmp_path)):
        with pytest.raises(InputError, match=f"^{tmp_path}/config.json: expected a configuration file, got a folder$"):
            read()
