"""
Files of `torch.save` from anywhere, looked at before torch reads them.

`torch.load(weights_only=True)` runs no code in a file. But a small file can have it
allocate any memory, or work for hours: by compressed records, by millions of empty
objects, by a size that is an argument of `bytearray`, or by a tar header, which torch
hands to `tarfile`.
"""

import io
import pickletools
import re
import zipfile
from pathlib import Path
from pickle import UnpicklingError
from typing import BinaryIO

from elmo_tasks.formats.magic import ZIP
from elmo_tasks.formats.tar import is_tar
from elmo_tasks.formats.unpacking import require_regular

_MOST_OPCODES = 300_000  # of about 27 for each tensor
_MOST_PICKLED = 2**24  # bytes: names and texts, without the tensors
_LEGACY_PICKLES = 5  # magic number, version, system, objects, names of the tensors

_GLOBALS = re.compile(
    r"collections OrderedDict"
    r"|torch\._utils _rebuild_(tensor|tensor_v2|parameter)"
    r"|torch(\.storage|\.cuda)? \w+Storage"
)
"""
What the pickles of tensors name. Torch allows more, such as `bytearray`, which
allocates what the file says.
"""


def check_tensor_file(file: str | Path) -> None:
    """
    Raises `UnpicklingError` if a file of `torch.save` has other objects than tensors,
    lists, dictionaries, texts and numbers, `ValueError` if it is damaged, or would take
    far more memory or time than its size. Whether the tensors themselves are sound,
    torch finds out.
    """
    require_regular(file)
    try:
        if is_zip(file):
            _check_zip(Path(file))
        else:
            _check_legacy(Path(file))
    except (UnpicklingError, OSError):
        raise
    except Exception as error:  # damaged files raise errors of any kind
        raise ValueError(str(error) or type(error).__name__) from None


def is_zip(file: str | Path) -> bool:
    """
    Whether torch takes it for a file of its present format, which can be mapped into
    memory.
    """
    with Path(file).open("rb") as opened:
        return opened.read(len(ZIP)) == ZIP


def _check_zip(file: Path) -> None:
    with zipfile.ZipFile(file) as archive:
        records = archive.infolist()
        size = sum([record.file_size for record in records])
        if size > file.stat().st_size:  # also of records that overlap
            raise ValueError("its records claim to be larger than the file")
        pickles = 0
        for record in records:
            name = record.filename.lower()  # torch finds records in either case
            if record.compress_type != zipfile.ZIP_STORED:
                raise ValueError("its records are compressed")
            if name.endswith("data.pkl"):
                pickles += 1
                _check_pickle(io.BytesIO(archive.read(record)))
        if pickles != 1:
            raise ValueError(f"expected one record data.pkl, got {pickles}")


def _check_legacy(file: Path) -> None:
    """The format of torch before 1.6: pickles, then the numbers of the tensors."""
    with file.open("rb") as opened:
        if is_tar(opened.read(512)):
            raise ValueError("it is a tar file")
        opened.seek(0)
        for _ in range(_LEGACY_PICKLES):
            _check_pickle(opened)


def _check_pickle(opened: BinaryIO) -> None:
    start = opened.tell()
    for number, (opcode, argument, _) in enumerate(pickletools.genops(opened)):
        if number > _MOST_OPCODES or opened.tell() - start > _MOST_PICKLED:
            raise ValueError("it has too many objects")
        if opcode.name == "GLOBAL" and not _GLOBALS.fullmatch(str(argument)):
            raise UnpicklingError(f"it has more than tensors: {argument!r:.100}")
