"""Files of `torch.save`: sound ones, and those that are not."""

import io
import tarfile
import zipfile
from collections import OrderedDict
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import pytest
import torch

from elmo_tasks.errors import InputError
from elmo_tasks.formats.tensor_files import load_tensors
from elmo_tasks.formats.unpacking import is_zip
from tests.system import require_path

VALUES: dict[str, Any] = {
    "tensors": {"a": torch.ones(2), "b": torch.ones(3).half()},
    "parameters": OrderedDict(a=torch.nn.Parameter(torch.ones(2, 3)), b=[1, 2.5, "x"]),
    "nothing": {},
}


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("is_new", [False, True])
@pytest.mark.parametrize("mapped", [False, True])
def test_sound_files(name: str, is_new: bool, mapped: bool, tmp_path: Path) -> None:
    file = tmp_path / "weights.th"
    torch.save(VALUES[name], file, _use_new_zipfile_serialization=is_new)
    found = load_tensors(file, mapped=mapped)
    assert found.keys() == VALUES[name].keys()
    for key, value in VALUES[name].items():
        if isinstance(value, torch.Tensor):
            assert torch.equal(found[key], value)
        else:
            assert found[key] == value
    assert is_zip(file) == is_new


class Code:
    def __reduce__(self) -> Any:
        return (exec, ("raise SystemExit('a pickle was executed')",))


@pytest.mark.parametrize("is_new", [False, True])
def test_code_is_not_run(is_new: bool, tmp_path: Path) -> None:
    file = tmp_path / "weights.th"
    torch.save({"a": Code()}, file, _use_new_zipfile_serialization=is_new)
    with pytest.raises(UnpicklingError, match="^it is damaged, or has more than tens"):
        load_tensors(file)


def test_sizes_within_a_ratio(tmp_path: Path) -> None:
    """Of records that are compressed, and of tensors that repeat one number."""
    file = tmp_path / "weights.th"
    torch.save({"a": torch.zeros(2**22)}, tmp_path / "sound")
    with (
        zipfile.ZipFile(tmp_path / "sound") as sound,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        for record in sound.namelist():
            archive.writestr(record, sound.read(record))
    for value in (None, torch.zeros(1).expand(10**10)):
        if value is not None:
            torch.save({"a": value}, file)
        with pytest.raises(InputError, match="more than 100 times its size"):
            load_tensors(file)


@pytest.mark.parametrize("mapped", [False, True])
def test_other_files(mapped: bool, tmp_path: Path) -> None:
    file = tmp_path / "weights.th"
    with tarfile.open(file, "w") as archive:
        archive.addfile(tarfile.TarInfo("pickle"), io.BytesIO())
    with pytest.raises((ValueError, UnpicklingError)):
        load_tensors(file, mapped=mapped)
    torch.save(VALUES["tensors"], tmp_path / "sound")
    sound = (tmp_path / "sound").read_bytes()
    contents = (b"", b"PK\x03\x04", b"PK", b"text", b"\x80\x02", sound[:-50])
    for content in contents:
        file.write_bytes(content)
        assert is_zip(file) == content.startswith(b"PK\x03\x04")
        with pytest.raises((ValueError, UnpicklingError, EOFError)):
            load_tensors(file, mapped=mapped)
    with pytest.raises(FileNotFoundError):
        load_tensors(tmp_path / "none", mapped=mapped)
    require_path("/dev/null")
    with pytest.raises(InputError, match="expected a regular file"):
        load_tensors("/dev/null", mapped=mapped)
