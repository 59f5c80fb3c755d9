"""Word senses by the nearest mean of a frozen layer's vectors (paper, section 5.3 and Table 5)."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from elmo_tasks.elmo.layers import Layers
from elmo_tasks.errors import InputError
from elmo_tasks.experiments.probes.layers import encode_blocks
from elmo_tasks.experiments.probes.mcnemar import Discordant, neighbours
from elmo_tasks.experiments.probes.senses import (
    CORPUS_HINT,
    DATA_SUFFIX,
    SenseSentence,
    Target,
    key_file_of,
    read_first_senses,
    read_keys,
    read_senses,
)

ALL, TESTS, DEVELOPMENT = "all", "tests", "semeval2007"
"""Columns over several sets: all of them; all except the development set, as in the paper's Table 5."""

Keys = Mapping[str, Sequence[str]]
Answers = Mapping[tuple[str, str], Sequence[str]]
Lemma = tuple[str, str]
"""Lemma and part of speech."""

TIE = 1e-6
"""Cosines that differ by less are equal: without context a word's senses often differ only by rounding."""

_TRAIN_FOLDERS = ("SemCor", "Training_Corpora/SemCor")
_CONCATENATION = "ALL"


class Score(NamedTuple):
    """Scores in percent, and the number of instances with an answer and of all instances."""

    precision: float
    recall: float
    f1: float
    answered: int
    instances: int


class SenseCorpus(NamedTuple):
    """A valid annotated file, its name (`senseval2` of `senseval2.data.xml`), and the gold senses of each instance."""

    name: str
    file: Path
    keys: Keys
    sentences: list[SenseSentence]

    @classmethod
    def of(cls, data_file: str | Path) -> "SenseCorpus":
        """Raises `InputError` with file and line, if a file is invalid or an instance is missing from one of them."""
        file, key_file = Path(data_file), key_file_of(data_file)
        keys = read_keys(key_file)
        sentences = list(read_senses(file))
        targets = [target for sentence in sentences for target in sentence.targets]
        for target in targets:
            if target.id not in keys:
                raise InputError(
                    f"{key_file} has no key for {target.id!r}",
                    file=file,
                    line=target.line,
                )
        if unused := keys.keys() - {target.id for target in targets}:
            raise InputError(f"{file} has no instance {min(unused)!r}", file=key_file)
        if not keys:
            raise InputError("expected annotated instances, got none", file=file)
        return cls(file.name.removesuffix(DATA_SUFFIX), file, keys, sentences)

    def target_vectors(self, frozen: Layers) -> Iterator[tuple[Target, Tensor]]:
        """Each target and the mean over its tokens in each layer: [L+1, D]."""
        words = [sentence.words for sentence in self.sentences]
        sentences = iter(self.sentences)
        for block in encode_blocks(frozen, words, what=self.name):
            for start in block.starts:
                for target in next(sentences).targets:
                    place = slice(start + target.start, start + target.end)
                    yield target, block.layers[:, place].mean(1)


class WsdRow(NamedTuple):
    """The scores of the first sense or of a layer."""

    name: str  # `first sense`, or the label of the source and the layer
    scores: dict[str, Score]  # by evaluation set, and over several


class WsdReport(NamedTuple):
    """The rows of the table, and the sizes of the data."""

    rows: list[WsdRow]
    instances: int  # training annotations
    senses: int  # sense vectors per layer
    first_sense_used: (
        int  # evaluated instances whose lemma is not in the training corpus
    )
    unanswered: int  # those whose lemma is not in WordNet either
    discordant: list[Discordant]  # each row and the next, over all sets


class SenseVectors:
    """
    A vector in each layer for every sense of a training corpus: the mean over its annotations. An instance with several
    keys counts for each of them.
    """

    def __init__(self, corpus: SenseCorpus, frozen: Layers) -> None:
        self.by_lemma: dict[Lemma, dict[str, None]] = {}
        sums: dict[str, Tensor] = {}
        for target, vectors in corpus.target_vectors(frozen):
            senses = self.by_lemma.setdefault((target.lemma, target.pos), {})
            for key in corpus.keys[target.id]:
                senses[key] = None
                sums[key] = sums[key] + vectors if key in sums else vectors
        self.directions = {
            key: normalize(total, dim=1) for key, total in sums.items()
        }  # [L+1, D] each

    def nearest(self, target: Target, vectors: Tensor) -> list[str] | None:
        """
        The nearest sense by cosine to each layer's vector [L+1, D], among those of the same lemma and part of speech;
        `None` if there are none. Ties (within `TIE`) go to the sense that comes first in the training corpus.
        """
        senses = list(self.by_lemma.get((target.lemma, target.pos), ()))
        if not senses:
            return None
        directions = torch.stack(
            [self.directions[key] for key in senses], 1
        )  # [L+1, senses, D]
        cosines = torch.einsum(
            "lsd,ld->ls", directions, normalize(vectors, dim=1)
        )  # [L+1, senses]
        near = cosines >= cosines.amax(1, keepdim=True) - TIE
        return [
            senses[int(index)] for index in near.numpy().argmax(1)
        ]  # the first of them


def probe_senses(
    frozen: Layers,
    train_file: str | Path,
    evaluation_files: Iterable[str | Path],
    index_sense: str | Path,
) -> WsdReport:
    """
    Table 5 on these files (`semcor.data.xml`, `senseval2.data.xml` and so on, with their keys in the same folders, and
    WordNet's `index.sense`), all of which are checked before the first is encoded.

    Raises `InputError` if a file is invalid.
    """
    train, *sets = (SenseCorpus.of(file) for file in (train_file, *evaluation_files))
    first_senses = read_first_senses(index_sense)
    vectors = SenseVectors(train, frozen)
    names = [f"{frozen.label} {layer}" for layer in range(frozen.n_layers)]
    answers: dict[str, dict[tuple[str, str], list[str]]] = {}
    unknown: list[
        str | None
    ] = []  # WordNet's first senses for lemmas that are not in the training corpus
    for corpus in sets:
        for target, found in corpus.target_vectors(frozen):
            first = first_senses.get((target.lemma, target.pos))
            nearest: Sequence[str | None] | None = vectors.nearest(target, found)
            if nearest is None:
                unknown.append(first)
                nearest = [first] * len(found)
            for name, key in zip(
                ["first sense", *names], [first, *nearest], strict=True
            ):
                answers.setdefault(name, {})[corpus.name, target.id] = (
                    [] if key is None else [key]
                )
    gold = {
        (corpus.name, id_): set(keys)
        for corpus in sets
        for id_, keys in corpus.keys.items()
    }
    right = {
        name: np.array(
            [not gold[instance].isdisjoint(keys) for instance, keys in given.items()]
        )  # [N]
        for name, given in answers.items()
    }
    rows = [
        WsdRow(name, _scores([corpus.name for corpus in sets], gold, given))
        for name, given in answers.items()
    ]
    sizes = len(train.keys), len(vectors.directions), len(unknown), unknown.count(None)
    return WsdReport(rows, *sizes, neighbours(right))


def _scores(
    names: list[str], gold: Mapping[tuple[str, str], set[str]], answers: Answers
) -> dict[str, Score]:
    """Of one row: by set, and over several sets together."""
    columns = {name: [name] for name in names}
    if len(names) > 1:
        columns[ALL] = names
        if DEVELOPMENT in names:
            columns[TESTS] = [name for name in names if name != DEVELOPMENT]
    return {
        column: score(
            {name: keys for name, keys in gold.items() if name[0] in members}, answers
        )
        for column, members in columns.items()
    }


def score(
    gold: Mapping[Any, Collection[str]], answers: Mapping[Any, Collection[str]]
) -> Score:
    """
    The score of each instance's answers against its gold keys, as the official scorer of Raganato et al. (2017) has it.
    An answer is correct if it is one of these; several answers share an instance. Precision is over the answered
    instances, recall over all. Answers to unknown instances are ignored.
    """
    given = {name: set(keys) for name, keys in answers.items() if keys and name in gold}
    right = sum(len(keys & set(gold[name])) / len(keys) for name, keys in given.items())
    precision = right / len(given) if given else 0.0
    recall = right / len(gold) if gold else 0.0
    f1 = 2 * precision * recall / (precision + recall) if right else 0.0
    return Score(100 * precision, 100 * recall, 100 * f1, len(given), len(gold))


def train_file_in(folder: Path) -> Path:
    """SemCor in a folder of Raganato et al.'s layout, or directly in the folder. Raises `InputError`."""
    for below in _TRAIN_FOLDERS:
        if (path := folder / below / f"semcor{DATA_SUFFIX}").is_file():
            return path
    raise InputError(
        f"expected SemCor/semcor{DATA_SUFFIX} in the folder",
        file=folder,
        hint=CORPUS_HINT,
    )


def evaluation_files_in(folder: Path) -> list[Path]:
    """Every evaluation set of the folder except `ALL`, the concatenation of the others. Raises `InputError`."""
    files = sorted(folder.glob(f"Evaluation_Datasets/*/*{DATA_SUFFIX}"))
    found = [file for file in files if file.parent.name != _CONCATENATION]
    if not found:
        problem = f"expected Evaluation_Datasets/NAME/NAME{DATA_SUFFIX} in the folder"
        raise InputError(problem, file=folder, hint=CORPUS_HINT)
    return found
