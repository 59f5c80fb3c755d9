"""Every reader and loader, with a valid file for each."""

import io
import tarfile
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow
from allennlp.data import DatasetReader
from pyarrow.parquet import write_table

import elmo_tasks.plugin  # noqa: F401 - registers what archives name
from elmo_tasks.bilm import BiLM
from elmo_tasks.elmo import ElmoVectors
from elmo_tasks.elmo.layers import Layers
from elmo_tasks.elmo.vector_model import VectorModel
from elmo_tasks.elmo.vectors.hdf5_writer import write_vectors
from elmo_tasks.experiments.probes.neighbors import read_corpus
from elmo_tasks.experiments.probes.senses import (
    read_first_senses,
    read_keys,
    read_senses,
)
from elmo_tasks.formats.annotation.tagged import read_tagged
from elmo_tasks.formats.text.tables import read_table
from elmo_tasks.formats.vector_files import VectorFile, read_vectors, width_of
from elmo_tasks.pretraining.scores.perplexity import first_sentences
from elmo_tasks.pretraining.vocabulary import WordVocabulary
from elmo_tasks.tasks.snli.reader import SnliReader
from elmo_tasks.tasks.srl.reader import SrlReader
from elmo_tasks.training.archives.loading import load_archive
from tests.archives.make import STORED
from tests.elmo.samples import random_bilm, write_bilm
from tests.tiny import FIXTURES, SAMPLES

ARCHIVE = STORED / "1/sst.tar.gz"

NAMES = list(SAMPLES) + [
    "snli, parses",
    "srl, all predicates",
    "word vectors",
    "word vectors by place",
    "text",
    "vocabulary",
    "biLM options",
    "biLM weights",
    "biLM weights as safetensors",
    "ELMo vectors",
    "Parquet",
    "senses",
    "senses with keys",
    "keys",
    "first senses",
    "CoNLL-U",
    "archive",
    "archived weights",
    "archived config",
]
"""Of `subjects`."""


@dataclass(frozen=True)
class Subject:
    """A valid file, and what reads it completely."""

    sample: bytes
    read: Callable[[Path], Any]
    name: str = "file.txt"
    framework: bool = False
    """
    Whether errors of AllenNLP are valid, too, if the command line shows them in one
    line.
    """


def subjects(folder: Path) -> dict[str, Subject]:
    """
    Every reader and loader, with a small valid file; `folder` is for the files that
    they need.
    """
    senses = FIXTURES / "wsd/SemCor"
    options, weights = map(Path, write_bilm(folder))
    tasks = {}
    for task, sample in SAMPLES.items():
        reader = DatasetReader.by_name(f"elmo_tasks_{task}")()
        tasks[task] = Subject(sample.read_bytes(), _reads(reader.read))
    return tasks | {
        "snli, parses": Subject(
            SAMPLES["snli"].read_bytes(), _reads(SnliReader(tokenization="parse").read)
        ),
        "srl, all predicates": Subject(
            SAMPLES["srl"].read_bytes(), _reads(SrlReader(verbs_only=False).read)
        ),
        "word vectors": Subject(_vectors(), _one_by_one),
        "word vectors by place": Subject(_vectors(), _by_place),
        "text": Subject(
            b"The cook bakes .\nIt rains .\n" * 3,
            lambda file: _all_of(first_sentences([file])),
        ),
        "vocabulary": Subject(
            b"<S>\n</S>\n<UNK>\nthe\ncook\n", WordVocabulary.from_file
        ),
        "biLM options": Subject(
            options.read_bytes(),
            partial(BiLM.from_files, weight_file=weights),
            "options.json",
        ),
        "biLM weights": Subject(
            weights.read_bytes(), partial(BiLM.from_files, options), "weights.hdf5"
        ),
        "biLM weights as safetensors": Subject(
            _safetensors(folder),
            partial(BiLM.from_files, options),
            "model.safetensors",
        ),
        "ELMo vectors": Subject(
            _elmo_vectors(folder, options, weights), _all_vectors, "vectors.hdf5"
        ),
        "Parquet": Subject(
            _parquet(folder),
            lambda file: _all_of(read_table(file, "tokens")),
            "a.parquet",
        ),
        "senses": Subject(
            (senses / "semcor.data.xml").read_bytes(), _reads(read_corpus), "a.data.xml"
        ),
        "senses with keys": Subject(
            (senses / "semcor.data.xml").read_bytes(),
            partial(_senses, folder=senses),
            "semcor.data.xml",
        ),
        "keys": Subject((senses / "semcor.gold.key.txt").read_bytes(), read_keys),
        "first senses": Subject(
            (FIXTURES / "wsd/index.sense").read_bytes(), read_first_senses
        ),
        "CoNLL-U": Subject(
            (FIXTURES / "pos/train.conllu").read_bytes(), _reads(read_tagged)
        ),
        "archive": Subject(ARCHIVE.read_bytes(), load_archive, "model.tar.gz", True),
        "archived weights": Subject(
            _member("weights.th"), _load_with, "weights.th", True
        ),
        "archived config": Subject(
            _member("config.json"), _load_with, "config.json", True
        ),
    }


def _reads(read: Callable[[Path], Iterable[Any]]) -> Callable[[Path], Any]:
    def read_all(file: Path) -> None:
        _all_of(read(file))

    return read_all


def _all_of(items: Iterable[Any]) -> None:
    """Reads to the end."""
    deque(items, maxlen=0)


def _vectors() -> bytes:
    return b"3 4\ncat 1 2 3 4\ndog 0.5 -1e-3 0 1\nthe 1 1 1 1\n"


def _one_by_one(file: Path) -> None:
    _all_of(read_vectors(file, width=4))
    width_of(file)


def _by_place(file: Path) -> list[Any]:
    vectors = VectorFile(file, width=4)
    return [vectors.get(word) for word in list(vectors._offsets)]


def _elmo_vectors(folder: Path, options: Path, weights: Path) -> bytes:
    made = folder / "sound.hdf5"
    keys = ("input", "model_sha256", "tokenizer")
    settings = dict.fromkeys(keys, "x")
    model = VectorModel(layers=Layers(BiLM.from_files(options, weights)))
    write_vectors(
        model, [(1, "The cook bakes ."), (2, "It rains .")], made, settings=settings
    )
    return made.read_bytes()


def _all_vectors(file: Path) -> None:
    with ElmoVectors(file) as vectors:
        for place, _ in enumerate(vectors):
            vectors.tokens(place)


def _parquet(folder: Path) -> bytes:
    rows = [["The", "cook", "bakes", "."], [], ["It", "rains", "."]]
    write_table(pyarrow.table({"tokens": rows}), folder / "rows.parquet")
    return (folder / "rows.parquet").read_bytes()


def _safetensors(folder: Path) -> bytes:
    file = folder / "model.safetensors"
    random_bilm().save_files(folder / "config.json", file)
    return file.read_bytes()


def _senses(file: Path, folder: Path) -> None:
    keys = read_keys(folder / "semcor.gold.key.txt")
    for sentence in read_senses(file):
        for target in sentence.targets:
            keys.get(target.id)


def _member(name: str) -> bytes:
    with tarfile.open(ARCHIVE) as archive:
        return _content(archive, archive.getmember(name))


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = archive.extractfile(member)
    if file is None:
        return b""
    return file.read()


def with_member(name: str, content: bytes | None, archived: Path = ARCHIVE) -> bytes:
    """
    A stored archive without one of its members, or with another file in its place.
    """
    packed = io.BytesIO()
    with (
        tarfile.open(archived) as sound,
        tarfile.open(fileobj=packed, mode="w:gz", compresslevel=1) as archive,
    ):
        for member in sound.getmembers():
            if name not in (member.name, member.name.split("/")[0]):
                archive.addfile(member, io.BytesIO(_content(sound, member)))
        if content is not None:
            added = tarfile.TarInfo(name)
            added.size = len(content)
            archive.addfile(added, io.BytesIO(content))
    return packed.getvalue()


def _load_with(damaged: Path) -> None:
    """The stored archive with one member replaced."""
    archive = damaged.with_name("made.tar.gz")
    archive.write_bytes(with_member(damaged.name, damaged.read_bytes()))
    load_archive(archive)
