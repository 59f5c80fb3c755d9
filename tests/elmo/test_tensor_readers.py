"""
A file of `torch.save` is read without running code in it. Those of other models: their
own tests; of archives: tests/archives/test_hostile.py.
"""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from elmo_tasks.elmo import Elmo
from elmo_tasks.errors import InputError
from elmo_tasks.pretraining.export import export_run
from tests.elmo.samples import Code
from tests.pretraining import toy


def learned_mix(folder: Path, hostile: Path) -> None:
    folder.mkdir()
    (folder / "config.json").write_text('{"model": {"elmo": {"mix": "last"}}}')
    shutil.copy(hostile, folder / "best.th")
    Elmo.from_pretrained().embed([["She"]], layers=str(folder))


def language_model(folder: Path, hostile: Path) -> None:
    toy.fake_run(folder)
    shutil.copy(hostile, folder / "best.th")
    export_run(folder, folder / "exported")


READERS = (learned_mix, language_model)


@pytest.mark.parametrize("read", READERS)
def test_a_file_with_code(read: Callable[[Path, Path], None], tmp_path: Path) -> None:
    torch.save({"a": Code(tmp_path / "trace")}, tmp_path / "hostile")
    with pytest.raises(InputError) as caught:
        read(tmp_path / "model", tmp_path / "hostile")
    assert "\n" not in str(caught.value) and not (tmp_path / "trace").exists()
