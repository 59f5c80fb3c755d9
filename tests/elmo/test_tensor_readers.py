"""
Every file of `torch.save` is looked at before torch reads it: one that would allocate
what it says is rejected, and nothing is allocated.
"""

import shutil
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from elmo_tasks.elmo import Elmo
from elmo_tasks.elmo.layers import Layers
from elmo_tasks.elmo.source_types import SourceSettings
from elmo_tasks.errors import InputError
from elmo_tasks.pretraining.export import export_run
from tests.elmo.manylangs.make import HERE
from tests.elmo.transformer_samples import write_transformer
from tests.pretraining import toy

SIZE = 2**26  # bytes


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


def write_hostile(file: Path) -> Path:
    """A file with `bytearray(SIZE)`, which torch would allocate."""
    size = SIZE.to_bytes(4, "little")
    pickled = b"\x80\x02c__builtin__\nbytearray\nJ" + size + b"\x85R."
    torch.save({}, file)
    with zipfile.ZipFile(file) as archive:
        records = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in records.items():
            is_pickle = name.endswith("/data.pkl")
            archive.writestr(name, pickled if is_pickle else content)
    return file


READERS = (learned_mix, manylangs, transformer, language_model)


@pytest.mark.parametrize("read", READERS)
def test_a_file_that_would_allocate_what_it_says(
    read: Callable[[Path, Path], None], tmp_path: Path
) -> None:
    hostile = write_hostile(tmp_path / "hostile")
    folder = tmp_path / "model"
    tracemalloc.start()
    try:
        with pytest.raises(InputError):
            read(folder, hostile)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < SIZE
