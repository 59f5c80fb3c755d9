"""Text -> a file of vectors (`ElmoVectors`), which goes on where it was killed."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from elmo_tasks.atomic import check_output_path
from elmo_tasks.elmo.extract_fill import Progress, filling
from elmo_tasks.elmo.extract_frame import Lines, TextHash, write_frame
from elmo_tasks.elmo.extraction import Extraction
from elmo_tasks.elmo.vectors import PART, ElmoVectors, attributes_of, open_vectors
from elmo_tasks.errors import InputError

_PLACES = ("input", "options_file", "weight_file")
"""Attributes that may differ when a call goes on: files may have moved."""

_SHOWN = 70


def extract(
    extraction: Extraction,
    lines: Lines,
    out: str | Path,
    *,
    force: bool = False,
    begun: Callable[[Mapping[str, int]], None] = lambda counts: None,
    report: Callable[[Progress], None] = lambda progress: None,
) -> None:
    """
    Write the vectors of all lines. They are put into `out` with `.part` behind its name, which is renamed in the end;
    a call like the one that was killed goes on there, and the file is the same byte for byte. Where `out` is there
    already from a call like this, nothing is done.

    # Parameters

    lines : `Lines`
        Read once, and not kept.
    force : `bool`
        Begin anew whatever is there; `out` stays as it is until the new file takes its name.
    begun : `Callable`
        Is told, before the first vector, how many sentences, tokens, blank and long lines there are.
    report : `Callable`
        Is told of every batch.

    # Raises

    `InputError`
        If a line is faulty, `out` or its part come from another call, another process writes to them, or the disk is
        full.
    """
    require_place(out)
    out, part = Path(out), _part(out)
    existing = None if force else next((file for file in (out, part) if file.exists()), None)
    if existing is None:
        write_frame(part, lines, parse=extraction.parse, shape=extraction.shape, settings=extraction.attributes)
    else:
        _require_same(existing, extraction.attributes, lines)
    if existing == out:
        ElmoVectors(out).close()  # tells where it is not finished
    else:
        with filling(part) as frame:
            begun(frame.counts)
            frame.fill(extraction, report)
            frame.rename(out)


def require_place(out: str | Path, *, read: Iterable[str | Path | None] = ()) -> None:
    """
    # Parameters

    out : `str` or `Path`
        Where the vectors are to be.
    read : `Iterable[str | Path | None]`
        Files that neither they nor their part must replace.

    # Raises

    `InputError` where either cannot be a file, or is one of those.
    """
    if Path(out).suffix == PART:
        raise InputError(f"the name of a file was wanted that does not end in {PART}", file=out)
    files = list(read)
    check_output_path(out, read=files)
    check_output_path(_part(out), read=files)


def _part(out: str | Path) -> Path:
    return Path(out).with_name(Path(out).name + PART)


def _require_same(existing: Path, wanted: Mapping[str, str | int], lines: Lines) -> None:
    """
    # Raises

    `InputError` listing what differs between the call that made a file and this one.
    """
    with open_vectors(existing) as hdf5:
        found = attributes_of(hdf5, existing)
    hint = "give the same input and options to go on, name another file, or say --force to start anew"
    compared = [key for key in wanted if key not in _PLACES]
    differing = [
        f"{key} was {_shown(found.get(key))}, is {_shown(wanted[key])}"
        for key in compared
        if found.get(key) != wanted[key]
    ]
    if not differing:
        heard = TextHash()
        for _ in heard.heard(lines):
            pass
        if heard.hexdigest() != found.get("text_sha256"):
            differing = [f"the text's sha256 was {found.get('text_sha256')}, is {heard.hexdigest()}"]
    if differing:
        raise InputError("was begun by another call: " + "; ".join(differing), file=existing, hint=hint)


def _shown(value: object) -> str:
    text = str(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
