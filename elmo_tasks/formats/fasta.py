"""
FASTA files -> proteins, whose residues are the words of a biLM such as SeqVec
(Heinzinger et al. 2019).

| in the file | what is read |
|---|---|
| a header `>NAME description` | the name, up to the first blank |
| the lines below it | one sequence; white space is dropped |
| lower-case letters | upper-case letters |
| the 20 amino acids; U and O; B, Z, J and X, which are ambiguous or unknown | themselves |
| `*` at the end of a sequence, a stop codon | nothing |
| gaps and other characters | an error |
"""

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from elmo_tasks.errors import InputError, shown
from elmo_tasks.formats.text_files import not_empty, open_text

RULE = "residues 1"
"""What files of vectors record; the number is increased when the rule changes."""

_HEADER, _STOP = ">", "*"
_NO_RESIDUE = re.compile("[^A-Za-z]")
_GAPS = "-."


class Protein(NamedTuple):
    """A protein's name and residues, which are upper-case letters."""

    name: str
    residues: list[str]

    def text(self) -> str:
        """The protein in FASTA, in two lines without the end of the second one."""
        return f"{_HEADER}{self.name}\n{''.join(self.residues)}"


def residues(sequence: str) -> list[str]:
    """
    The residues of a sequence, each an upper-case letter. White space is dropped, and a
    `*` at the end. Raises `InputError` for what is no letter.
    """
    letters = "".join(sequence.split()).removesuffix(_STOP)
    wrong = _NO_RESIDUE.search(letters)
    if wrong is not None:
        hint = None
        if wrong[0] in _GAPS:
            hint = "remove the gaps of an alignment"
        raise InputError(
            f"expected amino acids as letters, got {wrong[0]!r}", hint=hint
        )
    return list(letters.upper())


def read_proteins(file: str | Path, *, first: int = 1) -> Iterator[tuple[int, Protein]]:
    """
    The proteins of a FASTA file, plain, gzip or zstd, from the number `first` on, each
    with the line of its header. One of them is in memory, and the names of all.

    Raises `InputError` with the line if there is text before the first header, a header
    has no name or that of another protein, a protein has no residues, or a character is
    no letter; and if there is no protein.
    """
    proteins = not_empty(_proteins(file), "expected proteins in FASTA, got none", file)
    return islice(proteins, first - 1, None)


def _proteins(file: str | Path) -> Iterator[tuple[int, Protein]]:
    line_of: dict[str, int] = {}
    name = ""
    found: list[str] = []
    for line, text in open_text(file, longest=None):
        if text.startswith(_HEADER):
            if name:
                yield line_of[name], _protein(name, found, file, line_of[name])
            name = _name(text, line_of, file, line)
            line_of[name] = line
            found = []
        elif text.strip():
            if not name:
                problem = f"expected a header, {_HEADER}NAME, got {shown(text)}"
                raise InputError(problem, file=file, line=line)
            if found and found[-1] == _STOP:
                problem = f"expected {_STOP} at the end of a sequence only"
                raise InputError(problem, file=file, line=line)
            found += _residues_of_line(text, file, line)
    if name:
        yield line_of[name], _protein(name, found, file, line_of[name])


def _name(header: str, line_of: dict[str, int], file: str | Path, line: int) -> str:
    """The name in a header. Raises `InputError` if it has none, or a second time."""
    words = header.removeprefix(_HEADER).split()
    if not words:
        problem = f"expected a name after {_HEADER}, got {shown(header)}"
        raise InputError(problem, file=file, line=line)
    name = words[0]
    if name in line_of:
        problem = f"the name {shown(name)} is already on line {line_of[name]}"
        raise InputError(problem, file=file, line=line)
    return name


def _residues_of_line(text: str, file: str | Path, line: int) -> list[str]:
    """The residues of a line, the last of which may be `*`."""
    try:
        found = residues(text)
    except InputError as error:
        raise InputError(str(error), file=file, line=line) from None
    if text.rstrip().endswith(_STOP):
        found.append(_STOP)
    return found


def _protein(name: str, found: list[str], file: str | Path, line: int) -> Protein:
    if found and found[-1] == _STOP:
        found = found[:-1]
    if not found:
        problem = f"expected residues below the header of {shown(name)}, got none"
        raise InputError(problem, file=file, line=line)
    return Protein(name, found)
