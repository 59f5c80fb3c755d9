"""FASTA -> proteins: what is a residue, and one clear error for a damaged file."""

import gzip
from pathlib import Path

import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.formats.fasta import Protein, read_proteins, residues

FILE = """
>sp|P12345|NAME_HUMAN A protein OS=Homo sapiens
MKvl ACDE
FGHI*

> P2
uoBZXJ
>P3 *
A
*
"""


def test_proteins(tmp_path: Path) -> None:
    file = tmp_path / "proteins.fasta.gz"
    file.write_bytes(gzip.compress(FILE.replace("\n", "\r\n").encode()))
    expected = [
        (2, Protein("sp|P12345|NAME_HUMAN", list("MKVLACDEFGHI"))),
        (6, Protein("P2", list("UOBZXJ"))),
        (8, Protein("P3", ["A"])),
    ]
    assert list(read_proteins(file)) == expected
    assert list(read_proteins(file, first=2)) == expected[1:]
    assert expected[1][1].text() == ">P2\nUOBZXJ"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ": expected proteins in FASTA, got none"),
        ("\n \n", ": expected proteins in FASTA, got none"),
        ("\nMKV\n>P1\nM\n", ":2: expected a header, >NAME, got 'MKV'"),
        ("; old\n>P1\nM\n", ":1: expected a header, >NAME, got '; old'"),
        (">P1\nM\n>\nM\n", ":3: expected a name after >, got '>'"),
        (">P1\n>P2\nM\n", ":1: expected residues below the header of 'P1', got none"),
        (">P1\nM\n>P2 x\n \n", ":3: expected residues below the header of 'P2'"),
        (">P1\n*\n", ":1: expected residues below the header of 'P1', got none"),
        (">P1\nM\n>P2\nM\n>P1 b\nK\n", ":5: the name 'P1' is already on line 1"),
        (">P1\nMK\nMK1V\n", ":3: expected amino acids as letters, got '1'"),
        (">P1\nMK-V\n", r":2: .* got '-' \(remove the gaps of an alignment\)"),
        (">P1\nMK*V\n", r":2: expected amino acids as letters, got '\*'"),
        (">P1\nMK*\nV\n", r":3: expected \* at the end of a sequence only"),
        (">P1\nMßK\n", ":2: expected amino acids as letters, got 'ß'"),
        (">P1\nMK\0\n", ":2: expected text, got binary data"),
    ],
)
def test_damaged_files(text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "proteins.fasta"
    file.write_text(text)
    with pytest.raises(InputError, match=f"^{file}{message}"):
        list(read_proteins(file))


def test_residues_of_a_sequence() -> None:
    assert residues("SEQ wence*") == list("SEQWENCE")
    assert residues("") == []
    with pytest.raises(InputError, match="got '2'"):
        residues("SEQ2")


def test_one_protein_is_in_memory(tmp_path: Path) -> None:
    """What is wrong with a later one comes later."""
    file = tmp_path / "proteins.fasta"
    file.write_text(">P1\nMK\n>P2\nMK\n>P2\n")
    proteins = read_proteins(file)
    assert next(proteins)[1].name == "P1"
    assert next(proteins)[1].name == "P2"
    with pytest.raises(InputError, match=":5: "):
        next(proteins)
