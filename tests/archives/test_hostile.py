"""
Archives of a megabyte whose parts claim to be larger, or are damaged, are rejected in one
line, in bounded memory: each in its own process.
"""

import gzip
import hashlib
import io
import json
import os
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import pytest
import torch

from elmo_tasks.elmo import Elmo
from elmo_tasks.training.archives.loading import load_archive
from tests.fuzz.subjects import ARCHIVE, with_member
from tests.hostile import header, member, negative, outcome

pytestmark = pytest.mark.slow

MEGABYTE = 10**6
END = bytes(1024)
ZEROS = bytes(90 * MEGABYTE)
TH = b"weights.th"


TARS: dict[str, Callable[[], bytes]] = {
    "a name with a NUL": lambda: member(b"a\0b", b""),
    "a name of surrogates": lambda: member(b"vocabulary/\xff\xfe", b"x"),
    "many members": lambda: header(b"x") * 50_000,
    "a negative size": lambda: header(TH, negative(-512)) + END,
    "a huge size": lambda: header(TH, negative(2**80)) + ZEROS,
    "a size of letters": lambda: header(TH, b"zzzzzzzzzzzz") + END,
    "an unknown kind": lambda: member(TH, b"x", b"Z") + END,
    "nested gzip": lambda: gzip.compress(gzip.compress(member(TH, ZEROS))),
    "zeros": lambda: ZEROS,
    "a bomb as config": lambda: member(b"config.json", b"[" * len(ZEROS)),
    "a bomb as weights": lambda: member(TH, ZEROS),
    "truncated": lambda: ARCHIVE.read_bytes()[:-999],
}


@pytest.mark.parametrize("name", TARS)
def test_tar_files(name: str, tmp_path: Path) -> None:
    for compress in (True, False):
        data = TARS[name]()
        is_packed = data.startswith(b"\x1f\x8b")
        if compress:
            data = data if is_packed else gzip.compress(data, 6)
        (tmp_path / "a").write_bytes(data)
        message = outcome(lambda: load_archive(tmp_path / "a"))
        assert message is not None and str(tmp_path / "a") in message
        if is_packed or len(data) > 2 * MEGABYTE:
            break


def saved(state: Any) -> bytes:
    file = io.BytesIO()
    torch.save(state, file)
    return file.getvalue()


def pickled(data: bytes, **records: bytes) -> bytes:
    """A file of torch with this pickle."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a/data.pkl", data)
        archive.writestr("a/version", "3\n")
        archive.writestr("a/byteorder", "little")
        for name, content in records.items():
            archive.writestr(f"a/data/{name}", content)
    return file.getvalue()


def tensor(numel: int, size: int, stride: int) -> bytes:
    """A pickle of a dictionary with a tensor of bytes that claims these sizes."""
    storage = b"(X\7\0\0\0storagectorch\nByteStorage\nX\1\0\0\0aX\3\0\0\0cpu"
    storage += b"J" + numel.to_bytes(4, "little") + b"tQ"
    shape = b"K\0" + long(size) + b"\x85" + long(stride) + b"\x85\x89"
    made = b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage + shape
    return b"\x80\x02}X\1\0\0\0w" + made + b"ccollections\nOrderedDict\n)RtRs."


def long(number: int) -> bytes:
    return b"\x8a\x08" + number.to_bytes(8, "little")


def compressed() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a/data.pkl", b"\x80\x02}" + b"0" * 50 * MEGABYTE)
        archive.writestr("a/version", "3\n")
    return file.getvalue()


def overlapping() -> bytes:
    """A ZIP whose directory names one record a thousand times."""
    data = bytes(MEGABYTE)
    local = b"PK\3\4" + bytes(14) + len(data).to_bytes(4, "little") * 2
    local += b"\1\0\0\0x"
    entry = b"PK\1\2" + bytes(16) + len(data).to_bytes(4, "little") * 2
    entry += b"\1\0" + bytes(16) + b"x"
    end = (
        b"PK\5\6" + bytes(4) + b"\xe8\3" * 2 + (1000 * len(entry)).to_bytes(4, "little")
    )
    end += (len(local) + len(data)).to_bytes(4, "little") + bytes(2)
    return local + data + entry * 1000 + end


WEIGHTS: dict[str, Callable[[], bytes]] = {
    "code": lambda: saved({"a": os.getcwd}),
    "more than its record": lambda: pickled(tensor(2**30, 2**30, 1), a=b"x"),
    "one byte as many": lambda: pickled(tensor(1, 10**10, 0), a=b"x"),
    "compressed": compressed,
    "overlapping records": overlapping,
    "tar": lambda: member(b"pickle", b""),
    "a ZIP with nothing": lambda: b"PK\5\6" + bytes(18),
}


@pytest.mark.parametrize("name", WEIGHTS)
def test_weights(name: str, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(with_member("weights.th", WEIGHTS[name]()))
    message = outcome(lambda: load_archive(tmp_path / "a"))
    assert message is not None
    message = outcome(
        lambda: Elmo.from_files().embed(["A b"], layers=str(tmp_path / "a"))
    )
    assert message is not None


def with_contents(change: Callable[[dict[str, bytes]], None]) -> bytes:
    """The stored archive with other files of its biLM, whose digest it states."""
    with tarfile.open(ARCHIVE) as archive:
        members = {}
        for member in archive.getmembers():
            opened = archive.extractfile(member)
            if opened is not None:
                members[member.name] = opened.read()
    (record,) = json.loads(members["model.json"])
    contents = {}
    for key, path in record["paths"].items():
        contents[key] = members[path]
    change(contents)
    digest = hashlib.sha256()
    for key, path in record["paths"].items():
        members[path] = contents[key]
        digest.update(f"{hashlib.sha256(contents[key]).hexdigest()}  {key}/\n".encode())
    record["sha256"] = digest.hexdigest()
    members["model.json"] = json.dumps([record]).encode()
    image = io.BytesIO()
    with tarfile.open(fileobj=image, mode="w:gz") as archive:
        for name, content in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return image.getvalue()


def other_options(**changes: Any) -> Callable[[dict[str, bytes]], None]:
    def change(contents: dict[str, bytes]) -> None:
        options = json.loads(contents["options_file"])
        options["lstm"] |= changes
        contents["options_file"] = json.dumps(options).encode()

    return change


def other_weights(
    change: Callable[[h5py.File, str], None],
) -> Callable[[dict[str, bytes]], None]:
    """Another projection of the first layer in the biLM's weights."""
    name = "RNN_0/RNN/MultiRNNCell/Cell0/LSTMCell/W_P_0"

    def write(contents: dict[str, bytes]) -> None:
        image = io.BytesIO(contents["weight_file"])
        with h5py.File(image, "r+") as file:
            shape = file[name].shape
            del file[name]
            change(file, name, shape)  # type: ignore[call-arg]
        contents["weight_file"] = image.getvalue()

    return write


CONTENTS: dict[str, Callable[[dict[str, bytes]], None]] = {
    "long options": lambda contents: contents.update(options_file=b"[" * 50 * MEGABYTE),
    "a huge biLM": other_options(dim=10**6, projection_dim=10**6),
    "a large biLM": other_options(dim=2**13, projection_dim=2**12),
    "many layers": other_options(n_layers=10**9),
    "weights as a tar file": lambda contents: contents.update(
        weight_file=member(TH, b"x")
    ),
    "zeros": lambda contents: contents.update(weight_file=ZEROS),
    "a dataset without values": other_weights(
        lambda file, name, shape: file.create_dataset(name, (10**6, 10**6), "f4")  # type: ignore[misc]
    ),
}


@pytest.mark.parametrize("name", CONTENTS)
def test_a_bilm_inside(name: str, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(with_contents(CONTENTS[name]))
    message = outcome(lambda: load_archive(tmp_path / "a"))
    assert message is not None and "\n" not in message[:60]
