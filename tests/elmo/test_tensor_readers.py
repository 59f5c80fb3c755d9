"""Every file of `torch.save` is read without running code in it."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from elmo_tasks.elmo import Elmo
from elmo_tasks.elmo.layers import Layers
from elmo_tasks.elmo.sources.types import SourceSettings
from elmo_tasks.errors import InputError
from elmo_tasks.pretraining.export import export_run
from tests.elmo.manylangs.make import HERE
from tests.elmo.sources.transformer_samples import write_transformer
from tests.pretraining import toy


def learned_mix(folder: Path, hostile: Path) -> None:
    folder.mkdir()
    (folder / "config.json").write_text('{"model": {"elmo": {"mix": "last"}}}')
    shutil.copy(hostile, folder / "best.th")
    Elmo.from_pretrained().embed([["She"]], layers=str(folder))


def manylangs(folder: Path, hostile: Path) -> None:
    shutil.copytree(HERE / "both", folder)
    shutil.copy(hostile, folder / "encoder.pkl")
    Elmo.from_pretrained(folder)


def transformer(folder: Path, hostile: Path) -> None:
    write_transformer(folder)
    (folder / "model.safetensors").unlink()
    shutil.copy(hostile, folder / "pytorch_model.bin")
    Layers.open(SourceSettings(source="transformer", model=folder))


def language_model(folder: Path, hostile: Path) -> None:
    toy.fake_run(folder)
    shutil.copy(hostile, folder / "best.th")
    export_run(folder, folder / "exported")


class Code:
    def __reduce__(self) -> Any:
        return (exec, ("raise SystemExit('a pickle was executed')",))


READERS = (learned_mix, manylangs, transformer, language_model)


@pytest.mark.parametrize("read", READERS)
def test_a_file_with_code(read: Callable[[Path, Path], None], tmp_path: Path) -> None:
    torch.save({"a": Code()}, tmp_path / "hostile")
    with pytest.raises(InputError) as caught:
        read(tmp_path / "model", tmp_path / "hostile")
    assert "\n" not in str(caught.value)
