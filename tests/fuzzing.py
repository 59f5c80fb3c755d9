"""Every reader and every loader over damaged files: whatever the bytes, it reads them or raises one clear error."""

import gzip
import io
import json
import random
import signal
import tarfile
import warnings
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from allennlp.data import DatasetReader
from allennlp.models import load_archive

import elmo_tasks.plugin  # noqa: F401 - registers what archives name
from elmo_tasks.compat.terminal import one_line
from elmo_tasks.coref.reader import CorefReader
from elmo_tasks.coref.response import read_predictions
from elmo_tasks.data.vector_files import VectorFile, read_vectors, width_of
from elmo_tasks.elmo import BiLm, ElmoVectors
from elmo_tasks.elmo.extract import extract
from elmo_tasks.elmo.extraction import Extraction
from elmo_tasks.errors import InputError
from elmo_tasks.ner.reader import NerReader
from elmo_tasks.pretrain.evaluation import first_sentences
from elmo_tasks.pretrain.vocabulary import WordVocabulary
from elmo_tasks.probes.corpus_text import read_corpus
from elmo_tasks.probes.senses import read_first_senses, read_keys, read_senses
from elmo_tasks.probes.tagged import read_tagged
from elmo_tasks.snli.reader import SnliReader
from elmo_tasks.squad.reader import SquadReader
from elmo_tasks.srl.reader import SrlReader
from elmo_tasks.sst.reader import SstReader
from tests.archives.make import STORED
from tests.elmo.samples import write_bilm
from tests.hostile import unpacked
from tests.memory import grown
from tests.tiny import FIXTURES

SECONDS = 10.0
"""What takes longer with a few kilobytes counts as a hang."""

FLOOR, TIMES = 64e6, 10
"""Bytes that a reader may take: so many whatever the file is like, and so often those of the file."""

LONGEST = 2000
"""Characters of a message at most."""

PIECES = [
    *(b"\xc2\xa0", b"\xe2\x80\xa8", b"\0", b"\xff", b"\r", b"\r\n", b"\t", b" ", b"\n", b"\n\n", b"\x1c", b"\xc2\x85"),
    *(
        b"(",
        b")",
        b'"',
        b"'",
        b"{",
        b"}",
        b"[",
        b"]",
        b"<",
        b">",
        b"&",
        b"*",
        b"-",
        b"|",
        b"/",
        b"\\",
        b",",
        b":",
        b"#",
    ),
    *(b"(1", b"1)", b"(V*", b"NaN", b"-1", b"0", b"1e400", b"null", b"true", b'""', b"[]", b"{}", b"9" * 5000),
    *(b"\xc2\xb2", b"\xd9\xa3", b"\\ud800", b"\xed\xa0\x80", b"\xf0\x9f\x98\x80", b"x" * 10_000, b"\xef\xbb\xbf"),
    *(b"@@UNKNOWN@@", b"-DOCSTART-", b"#begin document (x)\n", b"#end document\n", b"B-", b"I-PER", b"<!ENTITY a 'b'>"),
]
VALUES: list[Any] = [
    *(None, True, False, 0, -1, 1, 3.5, float("nan"), 10**30, "", " ", "\u00a0", "\u200b", "\ud800", "x" * 3000),
    *([], {}, [[]], [None], ["a"], {"a": 1}, "²", "-", "A " * 50, "neutral"),
]


@dataclass(frozen=True)
class Subject:
    """
    # Parameters

    sample : `bytes`
        A sound file.
    read : `Callable[[Path], Any]`
        Reads all of it.
    name : `str`
        What the file is called.
    framework : `bool`
        Whether AllenNLP's own errors will do, too, where the command line makes one line of them.
    """

    sample: bytes
    read: Callable[[Path], Any]
    name: str = "file.txt"
    framework: bool = False


def subjects(folder: Path) -> dict[str, Subject]:
    """Every reader and loader, with a small sound file; `folder` gets what the files need beside them."""
    squad, snli, trees = FIXTURES / "squad/train-v1.1.json", FIXTURES / "snli/snli_1.0_train.jsonl", FIXTURES / "sst"
    senses = FIXTURES / "wsd/SemCor"
    options, weights = map(Path, write_bilm(folder))
    return {
        "squad": Subject(squad.read_bytes(), _instances(SquadReader(drop_unanswerable=True))),
        "snli": Subject(snli.read_bytes(), _instances(SnliReader())),
        "snli, parses": Subject(snli.read_bytes(), _instances(SnliReader(tokenization="parse"))),
        "sst": Subject((trees / "trees.txt").read_bytes(), _instances(SstReader(min_phrase_length=2))),
        "ner": Subject((FIXTURES / "ner/eng.bio").read_bytes(), _instances(NerReader())),
        "srl": Subject(
            (FIXTURES / "srl/tale.v4_gold_conll").read_bytes(),
            _instances(SrlReader(verbs_only=False)),
        ),
        "coref": Subject((FIXTURES / "coref/stories.gold_conll").read_bytes(), _instances(CorefReader())),
        "coref predictions": Subject(
            b'{"key": "a/b", "part": 0, "clusters": [[{"token_start": 0, "token_end": 1}]], "sentences": []}\n',
            read_predictions,
        ),
        "word vectors": Subject(_vectors(), lambda file: [_all_of(read_vectors(file, width=4)), width_of(file)]),
        "word vectors by place": Subject(_vectors(), _by_place),
        "text": Subject(b"The cook bakes .\nIt rains .\n" * 3, lambda file: _all_of(first_sentences([file]))),
        "vocabulary": Subject(b"<S>\n</S>\n<UNK>\nthe\ncook\n", WordVocabulary.from_file),
        "biLM options": Subject(options.read_bytes(), lambda file: BiLm.from_files(file, weights), "options.json"),
        "biLM weights": Subject(weights.read_bytes(), lambda file: BiLm.from_files(options, file), "weights.hdf5"),
        "ELMo vectors": Subject(_elmo_vectors(folder, options, weights), _all_vectors, "vectors.hdf5"),
        "senses": Subject(
            (senses / "semcor.data.xml").read_bytes(), lambda file: _all_of(read_corpus(file)), "a.data.xml"
        ),
        "senses with keys": Subject(
            (senses / "semcor.data.xml").read_bytes(), lambda file: _senses(file, senses), "semcor.data.xml"
        ),
        "keys": Subject((senses / "semcor.gold.key.txt").read_bytes(), read_keys),
        "first senses": Subject((FIXTURES / "wsd/index.sense").read_bytes(), read_first_senses),
        "CoNLL-U": Subject((FIXTURES / "pos/dev.conllu").read_bytes(), lambda file: _all_of(read_tagged(file))),
        "word/tag": Subject((FIXTURES / "pos/train.slash").read_bytes(), lambda file: _all_of(read_tagged(file))),
        "archive": Subject((STORED / "1/sst.tar.gz").read_bytes(), load_archive, "model.tar.gz", True),
        "archived weights": Subject(
            _member("weights.th"), lambda file: load_archive(_archive(file)), "weights.th", True
        ),
        "archived config": Subject(
            _member("config.json"), lambda file: load_archive(_archive(file)), "config.json", True
        ),
    }


def _instances(reader: DatasetReader) -> Callable[[Path], Any]:
    return lambda file: _all_of(reader.read(file))


def _all_of(items: Iterable[Any]) -> None:
    """Reads to the end, and keeps nothing."""
    deque(items, maxlen=0)


def _vectors() -> bytes:
    return b"3 4\ncat 1 2 3 4\ndog 0.5 -1e-3 0 1\nthe 1 1 1 1\n"


def _by_place(file: Path) -> list[Any]:
    vectors = VectorFile(file, width=4)
    return [vectors.get(word) for word in list(vectors._places)]


def _elmo_vectors(folder: Path, options: Path, weights: Path) -> bytes:
    made = folder / "sound.hdf5"
    settings = {name: name for name in ("input", "options_sha256", "weights_sha256", "tokenizer")}
    bilm = BiLm.from_files(options, weights)
    extract(Extraction(bilm=bilm, settings=settings), iter([(1, "The cook bakes ."), (2, "It rains .")]), made)
    return made.read_bytes()


def _all_vectors(file: Path) -> None:
    with ElmoVectors(file) as vectors:
        _all_of((array, vectors.tokens(place)) for place, array in enumerate(vectors))


def _senses(file: Path, folder: Path) -> None:
    keys = read_keys(folder / "semcor.gold.key.txt")
    _all_of(keys.get(target.id) for sentence in read_senses(file) for target in sentence.targets)


def _member(name: str) -> bytes:
    with tarfile.open(STORED / "1/sst.tar.gz") as archive:
        member = archive.extractfile(name)
        return b"" if member is None else member.read()


def _archive(damaged: Path) -> Path:
    """The stored archive with one member replaced."""
    made = damaged.with_name("made.tar.gz")
    with tarfile.open(STORED / "1/sst.tar.gz") as sound, tarfile.open(made, "w:gz", compresslevel=1) as out:
        for member in sound.getmembers():
            content = damaged.read_bytes() if member.name == damaged.name else _content(sound, member)
            member.size = len(content)
            out.addfile(member, io.BytesIO(content))
    return made


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = archive.extractfile(member)
    return b"" if file is None else file.read()


def mutated(sample: bytes, draw: random.Random) -> bytes:
    """The sample with some damage: cut, pieces put in or taken out, lines doubled, JSON values replaced, gzip."""
    data = sample
    if sample[:1] in b"{[" and draw.random() < 0.5:
        data = _mutated_json(sample, draw)
    else:
        for _ in range(draw.choice([1, 1, 1, 2, 4])):
            data = _CHANGES[draw.randrange(len(_CHANGES))](data, draw)
    if draw.random() < 0.1:
        data = gzip.compress(data, 1)
        if draw.random() < 0.7:
            data = _CHANGES[draw.randrange(len(_CHANGES))](data, draw)
    return data


def _cut(data: bytes, draw: random.Random) -> bytes:
    return data[: draw.randrange(len(data) + 1)]


def _insert(data: bytes, draw: random.Random) -> bytes:
    place = draw.randrange(len(data) + 1)
    return data[:place] + draw.choice(PIECES) + data[place:]


def _replace(data: bytes, draw: random.Random) -> bytes:
    start = draw.randrange(len(data) + 1)
    return data[:start] + draw.choice(PIECES) + data[start + draw.randrange(1, 9) :]


def _remove(data: bytes, draw: random.Random) -> bytes:
    start = draw.randrange(len(data) + 1)
    return data[:start] + data[start + draw.randrange(1, 40) :]


def _flip(data: bytes, draw: random.Random) -> bytes:
    place = draw.randrange(len(data) + 1)
    return data[:place] + bytes([draw.randrange(256)]) + data[place + 1 :]


def _double_line(data: bytes, draw: random.Random) -> bytes:
    lines = data.split(b"\n")
    lines.insert(draw.randrange(len(lines) + 1), draw.choice(lines))
    return b"\n".join(lines)


def _replace_field(data: bytes, draw: random.Random) -> bytes:
    lines = data.split(b"\n")
    place = draw.randrange(len(lines))
    fields = lines[place].split(draw.choice([b" ", b"\t"]))
    fields[draw.randrange(len(fields))] = draw.choice(PIECES)
    lines[place] = b" ".join(fields)
    return b"\n".join(lines)


def _line_ends(data: bytes, draw: random.Random) -> bytes:
    return data.replace(b"\n", draw.choice([b"\r\n", b"\r", b"\n\n", b""]))


_CHANGES = (_cut, _insert, _replace, _remove, _flip, _double_line, _replace_field, _line_ends)


def _mutated_json(sample: bytes, draw: random.Random) -> bytes:
    """One value of the file, or of one of its lines, replaced, renamed or removed."""
    try:
        return _changed(json.loads(sample), draw)
    except json.JSONDecodeError:
        lines = sample.splitlines()
        place = draw.randrange(len(lines))
        lines[place] = _changed(json.loads(lines[place]), draw)
        return b"\n".join(lines) + b"\n"


def _changed(root: Any, draw: random.Random) -> bytes:
    holder, key = draw.choice(list(_places(root)))
    kind = draw.randrange(3)
    if kind == 0:
        del holder[key]
    elif kind == 1 and isinstance(holder, dict):
        holder[draw.choice(["x", "\ud800", "a\nb", f"{key} "])] = holder.pop(key)
    else:
        holder[key] = draw.choice(VALUES)
    return json.dumps(root).encode()


def _places(holder: Any) -> list[tuple[Any, Any]]:
    keys = list(holder) if isinstance(holder, dict) else range(len(holder)) if isinstance(holder, list) else ()
    return [place for key in keys for place in [(holder, key), *_places(holder[key])]]


def outcome(subject: Subject, data: bytes, folder: Path, *, seconds: float = SECONDS) -> str:
    """`read`, `refused`, or what is wrong with how the subject took it."""
    file = folder / "damaged" / subject.name
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(data)
    with warnings.catch_warnings(record=True) as caught, grown() as memory:
        warnings.simplefilter("always")
        try:
            with _alarm(seconds):
                subject.read(file)
            found = "read"
        except _Hang:
            return f"took longer than {seconds:.0f} s"
        except Exception as error:
            line = one_line(error) if subject.framework or isinstance(error, InputError) else None
            found = f"{type(error).__name__}: {str(error)[:200]}" if line is None else _of_message(line)
    if memory[0] > FLOOR + TIMES * unpacked(data):
        return f"took {memory[0] / 1e6:.0f} MB for a file of {unpacked(data) / 1e6:.2f} MB"
    numeric = [str(one.message) for one in caught if issubclass(one.category, RuntimeWarning)]
    return numeric[0] if numeric else found


class _Hang(BaseException):
    """No exception that a reader would take for one of its own."""


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """Raises `_Hang` where the block takes longer."""

    def ring(*_: Any) -> None:
        raise _Hang

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _of_message(message: str) -> str:
    if len(message) > LONGEST:
        return f"a message of {len(message)} characters: {message[:200]}"
    if any(ord(character) < 32 and character != "\n" for character in message):
        return f"a message with control characters: {message[:200]!r}"
    return "refused"


def fuzz(subject: Subject, *, count: int, seed: int, folder: Path) -> tuple[Counter[str], dict[str, bytes]]:
    """How many files were read and refused; and all else that happened, with the first file that it happened to."""
    draw = random.Random(seed)
    counts: Counter[str] = Counter()
    faults: dict[str, bytes] = {}
    for _ in range(count):
        data = mutated(subject.sample, draw)
        found = outcome(subject, data, folder)
        counts[found] += 1
        if found not in ("read", "refused"):
            faults.setdefault(found, data)
    return counts, faults
