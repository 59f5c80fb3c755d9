"""Files of `torch.save` whose records have unusual names."""

import zipfile
from pathlib import Path
from pickle import UnpicklingError

import pytest
import torch

from elmo_tasks.formats.tensor_files import check_tensor_file

PICKLES = {
    "many objects": b"\x80\x02(" + b"]" * 400_000 + b"l.",
    "bytearray": b"\x80\x02c__builtin__\nbytearray\nJ\x00\x00\x00\x70\x85R.",
    "code": b"\x80\x02cos\nsystem\nX\x01\x00\x00\x00x\x85R.",
}


@pytest.mark.parametrize("pickle", PICKLES)
@pytest.mark.parametrize("name", ["data.pkl", "DATA.PKL", "Data.pkl"])
def test_pickles_of_any_case(name: str, pickle: str, tmp_path: Path) -> None:
    file = tmp_path / "weights.th"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(f"archive/{name}", PICKLES[pickle])
        archive.writestr("archive/version", "3\n")
    with pytest.raises((ValueError, UnpicklingError)):
        check_tensor_file(file)


@pytest.mark.parametrize("count", [0, 2])
def test_one_pickle(count: int, tmp_path: Path) -> None:
    torch.save({"a": torch.ones(2)}, tmp_path / "sound")
    check_tensor_file(tmp_path / "sound")
    file = tmp_path / "weights.th"
    with (
        zipfile.ZipFile(tmp_path / "sound") as sound,
        zipfile.ZipFile(file, "w") as archive,
    ):
        for record in sound.namelist():
            if not record.endswith("data.pkl"):
                archive.writestr(record, sound.read(record))
        for name in ("data.pkl", "DATA.PKL")[:count]:
            archive.writestr(f"sound/{name}", sound.read("sound/data.pkl"))
    with pytest.raises(ValueError, match=f"expected one record data.pkl, got {count}"):
        check_tensor_file(file)
