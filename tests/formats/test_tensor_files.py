"""Files of `torch.save`: sound ones, and those whose records or pickles are not."""

import io
import pickle
import tarfile
import zipfile
from collections import OrderedDict
from pathlib import Path
from pickle import UnpicklingError

import pytest
import torch

from elmo_tasks.errors import InputError
from elmo_tasks.formats.tensor_files import check_tensor_file, is_zip
from tests.system import require_path

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


VALUES = {
    "tensors": {"a": torch.ones(2), "b": torch.ones(3).half()},
    "parameters": OrderedDict(a=torch.nn.Parameter(torch.ones(2, 3)), b=[1, 2.5, "x"]),
    "nothing": {},
}


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("is_new", [False, True])
def test_sound_files(name: str, is_new: bool, tmp_path: Path) -> None:
    file = tmp_path / "weights.th"
    torch.save(VALUES[name], file, _use_new_zipfile_serialization=is_new)
    check_tensor_file(file)
    assert is_zip(file) == is_new


@pytest.mark.parametrize("value", [bytearray(5), {1, 2}, Path("x"), torch.float32])
@pytest.mark.parametrize("is_new", [False, True])
def test_files_of_other_objects(value: object, is_new: bool, tmp_path: Path) -> None:
    file = tmp_path / "weights.th"
    torch.save({"a": value}, file, _use_new_zipfile_serialization=is_new)
    with pytest.raises(UnpicklingError, match="it has more than tensors: '"):
        check_tensor_file(file)


SOUND = pickle.dumps(1, 2)


def test_pickles_of_the_legacy_format(tmp_path: Path) -> None:
    """Five of them are read; what follows are the numbers of the tensors."""
    file = tmp_path / "weights.th"
    file.write_bytes(SOUND * 5 + PICKLES["code"])
    check_tensor_file(file)
    for count in range(5):
        file.write_bytes(SOUND * count + PICKLES["code"] + SOUND * 5)
        with pytest.raises(
            UnpicklingError, match="it has more than tensors: 'os system"
        ):
            check_tensor_file(file)
        file.write_bytes(SOUND * count)
        with pytest.raises(ValueError, match="pickle exhausted before seeing STOP|."):
            check_tensor_file(file)


def zipped(file: Path, *records: tuple[str, bytes], method: int = 0) -> Path:
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, content in records:
            archive.writestr(name, content)
    return file


def many_objects(count: int) -> bytes:
    """A pickle of so many opcodes."""
    return b"\x80\x02(" + b"]" * (count - 4) + b"l."


def long_text(size: int) -> bytes:
    """A pickle of so many bytes."""
    length = size - 8
    return b"\x80\x02X" + length.to_bytes(4, "little") + b"x" * length + b"."


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(many_objects(300_001), id="objects"),
        pytest.param(long_text(2**24), id="bytes"),
    ],
)
def test_the_largest_pickles(content: bytes, tmp_path: Path) -> None:
    check_tensor_file(zipped(tmp_path / "a", ("x/data.pkl", content)))
    more = many_objects(300_002) if content[2] == ord("(") else long_text(2**24 + 1)
    with pytest.raises(ValueError, match="it has too many objects"):
        check_tensor_file(zipped(tmp_path / "b", ("x/data.pkl", more)))


def test_sizes_of_pickles_count_from_their_starts(tmp_path: Path) -> None:
    file = tmp_path / "weights.th"
    file.write_bytes(long_text(2**23) * 3 + SOUND * 2)
    check_tensor_file(file)


def test_compressed_records(tmp_path: Path) -> None:
    for method in (zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA):
        file = zipped(tmp_path / "a", ("x/data.pkl", SOUND), method=method)
        with pytest.raises(ValueError, match="its records are compressed"):
            check_tensor_file(file)


def test_records_that_overlap(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a", "w") as archive:
        archive.writestr("x/data.pkl", SOUND)
        archive.writestr("x/data/0", bytes(5000))
        archive.filelist += [archive.getinfo("x/data/0")] * 2
    with pytest.raises(
        ValueError, match="its records claim to be larger than the file"
    ):
        check_tensor_file(tmp_path / "a")


def test_other_files(tmp_path: Path) -> None:
    file = tmp_path / "weights.th"
    with tarfile.open(file, "w") as archive:
        archive.addfile(tarfile.TarInfo("pickle"), io.BytesIO())
    with pytest.raises(ValueError, match="it is a tar file"):
        check_tensor_file(file)
    for content in (b"", b"PK\x03\x04", b"PK", b"text", b"\x80\x02"):
        file.write_bytes(content)
        assert is_zip(file) == (content == b"PK\x03\x04")
        with pytest.raises(ValueError, match="."):
            check_tensor_file(file)
    with pytest.raises(FileNotFoundError):
        check_tensor_file(tmp_path / "none")
    require_path("/dev/null")
    with pytest.raises(InputError, match="expected a regular file"):
        check_tensor_file("/dev/null")
