"""
All formats of lines against line ends, byte order marks, blank and missing last lines,
trailing blanks, damage: the right records, or one error with file and line.
"""

import gzip
import json
import tracemalloc
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow
import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.experiments.probes.senses import (
    read_senses,
)
from elmo_tasks.formats.annotation.columns import read_columns
from elmo_tasks.formats.annotation.ontonotes import read_documents
from elmo_tasks.formats.annotation.tagged import read_tagged
from elmo_tasks.formats.annotation.trees import read_trees
from elmo_tasks.formats.json_files import parse_json
from elmo_tasks.formats.text.text_files import open_text
from elmo_tasks.formats.vector_files import VectorFile, read_vectors, width_of
from elmo_tasks.pretraining.text.sentences import read_sentences
from elmo_tasks.tasks.snli.reader import SnliReader
from elmo_tasks.tasks.squad.official import read_questions

MARK = "\ufeff"
ODD = "10\u00a0000 a\u2028b c\x85d e\x0bf g\x0ch i\x1cj café ."
"""
Tokens with characters that Python, but not these formats, takes for blanks or ends.
"""


@dataclass(frozen=True)
class Format:
    """A small valid file, and what reads its records."""

    text: str
    read: Callable[[Path], Iterable[Any]]
    records: int
    last_line: bool = True
    """Whether a blank line at the end is no record."""
    packed: bool = True
    """Whether the file may be compressed."""


def _documents(file: Path) -> list[Any]:
    found = []
    for document in read_documents(file):
        mentions = document.mentions()
        for one in document.sentences:
            record = (document.key, one.words, one.speakers, one.frames(), mentions)
            found.append(record)
    return found


def _pairs(file: Path) -> list[Any]:
    found = []
    for instance in SnliReader(tokenization="parse").read(file):
        found.append(instance["metadata"].metadata | {"file": None, "line": None})
    return found


def _json_lines(file: Path) -> list[Any]:
    found = []
    for number, line in open_text(file):
        if line.strip():
            found.append(parse_json(line.strip(), file=file, line=number))
    return found


def _read_vectors(file: Path) -> list[Any]:
    assert width_of(file) == 3
    return [(word, vector.tolist()) for word, vector in read_vectors(file, width=3)]


def _look_up(file: Path) -> list[Any]:
    vectors = VectorFile(file, width=3)
    found = []
    for word in ("the", "café", "a\u2028b", "10\u00a0000"):
        vector = vectors.get(word.encode())
        assert vector is not None
        found.append((word, vector.tolist()))
    return found


def _embedded(file: Path) -> list[list[str]]:
    """The tokens of `elmo-tasks elmo`, for which each line is a sentence."""
    return [line.split() for _, line in open_text(file, longest=None)]


def _table(separator: str, *rows: str) -> str:
    return "".join([row.replace("|", separator) + "\n" for row in rows])


def _conll(separator: str, name: str) -> str:
    rows = [
        f"d|0|0|She|PRP|(S*|-|-|-|{name} Lee|*|(ARG0*)|(1)",
        f"d|0|1|sails|VBZ|*)|sail|01|-|{name} Lee|*|(V*)|-",
        "",
        f"d|0|0|#|SYM|*|-|-|-|{name} Kim|*|(2|".rstrip("|"),
        f"d|0|1|5|CD|*|-|-|-|{name} Kim|*|2)",
    ]
    begin, end = "#begin document (d); part 000\n", "\n#end document\n"
    return begin + _table(separator, *rows) + end


CONLLU = """\
# text = She sails.
1	She	she	PRON	PRP	Case=Nom	2	nsubj	_	_
2-3	sails.	_	_	_	_	_	_	_	_
2	10\u00a0000	sail	NUM	CD	_	0	root	_	_
3	a b	.	PUNCT	.	_	2	punct	_	_

# text = It.
1	c\u2028d	it	PRON	PRP	_	0	root	_	_

"""


def _pair(label: str, premise: str, hypothesis: str) -> str:
    pair = {
        "gold_label": label,
        "sentence1_binary_parse": premise,
        "sentence2_binary_parse": hypothesis,
    }
    return json.dumps(pair, ensure_ascii=False) + "\n"


PAIRS = _pair("neutral", "( A ( 1\u00a01/2 dog ) )", "( a\u2028b . )")
PAIRS += _pair("-", "x", "y")
PAIRS += _pair("entailment", "( Dogs bark )", "( café . )")
SQUAD = """\
{"data": [{"paragraphs": [
  {"context": "The \ufeffferry\u2028left at 10\u00a0am.",
   "qas": [{"id": "1", "question": "What left?",
            "answers": [{"text": "ferry", "answer_start": 5}]}]}
]}]}
"""
VECTORS = "the 1 2 3\n. . . 4 5 6\ncafé 7 8 9\na\u2028b -1 1e2 .5\n10\u00a0000 1 1 1\n"
SENSES = """\
<?xml version="1.0" encoding="UTF-8" ?>
<corpus lang="en"><text id="d000">
<sentence id="d000.s000">
<wf lemma="the" pos="DET">The</wf>
<instance id="d000.s000.t000" lemma="play" pos="NOUN">café play</instance>
</sentence>
</text></corpus>
"""
TREES = "(3 (2 It) (4 (2 's) (3 10\u00a0000)))\n(2 a\u2028b)\n(1 (1 c\x0bd) (2 café))\n"
RAW = f"{ODD}\nShe sails .\nIt rains .\n"


FORMATS = {
    "columns": Format(
        "-DOCSTART- -X-\n\nShe PRON\n10\u00a0000 NUM\n\n# SYM\na\u2028b SYM\n\n",
        read_columns,
        2,
    ),
    "CoNLL-2012": Format(_conll(" ", "Ann").replace("Ann ", "Ann_"), _documents, 2),
    "CoNLL-2012 with tabs": Format(_conll("\t", "Ann"), _documents, 2),
    "CoNLL-U": Format(CONLLU, read_tagged, 2),
    "trees": Format(TREES, read_trees, 3),
    "SNLI": Format(PAIRS, _pairs, 2),
    "JSON lines": Format('{"a": "b c"}\n{"a": "café"}\n', _json_lines, 2),
    "SQuAD": Format(SQUAD, read_questions, 1),
    "vectors": Format(VECTORS, _read_vectors, 5),
    "vectors, looked up": Format(VECTORS, _look_up, 4, packed=False),
    "text of a biLM": Format(RAW, lambda file: read_sentences([file]), 3),
    "text to embed": Format(RAW, _embedded, 3, last_line=False),
    "senses": Format(SENSES, read_senses, 1),
}

for_all_formats = pytest.mark.parametrize("name", FORMATS)


def records(name: str, file: Path) -> list[str]:
    """The records, without the line numbers that some have."""
    found = []
    for one in FORMATS[name].read(file):
        if hasattr(one, "line"):
            content = {key: getattr(one, key) for key in one.__slots__}
            content["line"] = None
            one = content
        found.append(repr(one))
    return found


def read(name: str, data: bytes, file: Path) -> list[str] | InputError:
    file.write_bytes(data)
    try:
        return records(name, file)
    except InputError as error:
        assert error.file == str(file) and str(file) in str(error)
        return error


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "some.txt"


def expected(name: str, file: Path) -> list[str]:
    found = read(name, FORMATS[name].text.encode(), file)
    assert isinstance(found, list), found
    assert len(found) == FORMATS[name].records
    return found


def _same(text: str) -> dict[str, bytes]:
    """A file after changes that no reader notices."""
    data = text.encode()
    without_end = text.rstrip("\n")
    return {
        "CRLF": text.replace("\n", "\r\n").encode(),
        "CR CR LF": text.replace("\n", "\r\r\n").encode(),
        "CR": text.replace("\n", "\r").encode(),
        "LF, then CR": text.replace("\n", "\r").replace("\r", "\n", 1).encode(),
        "CR, then LF": text.replace("\n", "\r", 1).encode(),
        "a mark": f"{MARK}{text}".encode(),
        "two marks": f"{MARK}{MARK}{text}".encode(),
        "no last line end": without_end.encode(),
        "no last CR": without_end.replace("\n", "\r").encode(),
        "trailing blanks": text.replace("\n", "  \n").encode(),
        "gzip": gzip.compress(data),
        "two members": gzip.compress(data[:9]) + gzip.compress(data[9:]),
        "zstd": pyarrow.compress(data, "zstd", asbytes=True),
    }


SAME = tuple(_same(""))
PACKED = ("gzip", "two members", "zstd")


def _other(text: str) -> dict[str, bytes]:
    """
    A file after changes after which the records are the same, or there is an error.
    """
    marked = MARK + text.rstrip("\n").replace("\n", f"\n{MARK}")
    return {
        "blank last lines": f"{text}\n\n\n".encode(),
        "blanks in the last line": f"{text}  \n".encode(),
        "a tab in the last line": f"{text}\t".encode(),
        "trailing tabs": text.replace("\n", "\t\n").encode(),
        "a mark in every line": marked.encode(),
    }


OTHER = [
    (name, change)
    for name in FORMATS
    for change in _other("")
    if not (name.startswith("vectors") and change == "a mark in every line")
]
"""Words of vectors may begin with a mark."""

DAMAGE = {"NUL": b"\0", "Latin-1": b"\xe9", "UTF-8 of a surrogate": b"\xed\xa0\x80"}
"""Bytes after the first one of a line."""

DAMAGED = [(name, kind) for name in FORMATS for kind in DAMAGE]


@for_all_formats
@pytest.mark.parametrize("change", SAME)
def test_changes_that_no_reader_notices(name: str, change: str, file: Path) -> None:
    right = expected(name, file)
    found = read(name, _same(FORMATS[name].text)[change], file)
    if change in PACKED and not FORMATS[name].packed:
        assert "got a compressed file" in str(found)
    else:
        assert found == right


@pytest.mark.parametrize(("name", "change"), OTHER)
def test_the_right_records_or_an_error(name: str, change: str, file: Path) -> None:
    right = expected(name, file)
    found = read(name, _other(FORMATS[name].text)[change], file)
    if isinstance(found, InputError):
        assert found.line is not None
        assert change not in ("blank last lines", "blanks in the last line")
    elif FORMATS[name].last_line:
        assert found == right
    else:
        assert found[: len(right)] == right
        assert set(found[len(right) :]) <= {"[]"}


@pytest.mark.parametrize(("name", "kind"), DAMAGED)
def test_damage_is_an_error_at_its_line(name: str, kind: str, file: Path) -> None:
    lines = FORMATS[name].text.encode().split(b"\n")[:-1]
    for place, line in enumerate(lines):
        damaged = list(lines)
        damaged[place] = line[:1] + DAMAGE[kind] + line[1:]
        found = read(name, b"\n".join(damaged) + b"\n", file)
        assert isinstance(found, InputError) and found.line == place + 1, found


@for_all_formats
@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_other_encodings(name: str, encoding: str, file: Path) -> None:
    found = read(name, FORMATS[name].text.encode(encoding), file)
    assert isinstance(found, InputError) and found.line == 1


@for_all_formats
@pytest.mark.parametrize("text", ["", "\n", " \n\t\n", MARK, f"{MARK}\r\n"])
def test_files_without_a_record(name: str, text: str, file: Path) -> None:
    found = read(name, text.encode(), file)
    if isinstance(found, list):
        assert set(found) <= {"[]"}
        assert name in ("text to embed", "JSON lines")


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_memory_does_not_grow_with_the_file(tmp_path: Path, end: bytes) -> None:
    file = tmp_path / "text"
    file.write_bytes((b"a b c d" + end) * 300_000)
    tracemalloc.start()
    try:
        size = 0
        for _, line in open_text(file):
            size += len(line)
        assert size == 2_100_000
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()
