"""
Word senses by the nearest mean of a frozen layer's vectors (paper, section 5.3 and
Table 5).
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

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

ALL = "all"
"""The column over all sets."""

TESTS = "tests"
"""The column over all sets except the development set, as in the paper's Table 5."""

DEVELOPMENT = "semeval2007"
"""The development set."""

FIRST_SENSE = "first sense"

Keys = Mapping[str, Sequence[str]]
"""The sense keys of each instance of a corpus."""

Instance = tuple[str, str]
"""The name of a set, and an id that is unique in it."""

Answers = dict[Instance, str | None]
"""The sense key that a row of the table answers, if any."""

Lemma = tuple[str, str]
"""Lemma and part of speech."""

TIE = 1e-6
"""
Cosines that differ by less are equal: without context a word's senses often differ only
by rounding.
"""

_TRAIN_FOLDERS = ("SemCor", "Training_Corpora/SemCor")
_CONCATENATION = "ALL"


class Score(NamedTuple):
    """
    Scores in percent, and the number of instances with an answer and of all instances.
    """

    precision: float
    recall: float
    f1: float
    answered: int
    instances: int


class SenseCorpus(NamedTuple):
    """
    A valid annotated file, its name (`senseval2` of `senseval2.data.xml`), and the gold
    senses of each instance.
    """

    name: str
    file: Path
    keys: Keys
    sentences: list[SenseSentence]

    @classmethod
    def of(cls, data_file: str | Path) -> "SenseCorpus":
        """
        Raises `InputError` with file and line, if a file is invalid or an instance is
        missing from one of them.
        """
        file = Path(data_file)
        key_file = key_file_of(data_file)
        keys = read_keys(key_file)
        sentences = list(read_senses(file))
        unused = set(keys)
        for sentence in sentences:
            for target in sentence.targets:
                if target.id not in keys:
                    raise InputError(
                        f"{key_file} has no key for {target.id!r}",
                        file=file,
                        line=target.line,
                    )
                unused.discard(target.id)
        if unused:
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
                    tokens = slice(start + target.start, start + target.end)
                    yield target, block.layers[:, tokens].mean(1)


class WsdRow(NamedTuple):
    """The scores of the first sense or of a layer."""

    name: str  # `FIRST_SENSE`, or the label of the source and the layer
    scores: dict[str, Score]  # by evaluation set, and over several


class WsdReport(NamedTuple):
    """The rows of the table, and the sizes of the data."""

    rows: list[WsdRow]
    instances: int  # training annotations
    senses: int  # sense vectors per layer
    first_sense_used: int  # evaluated instances with a lemma that training lacks
    unanswered: int  # those of them with a lemma that WordNet lacks, too
    discordant: list[Discordant]  # each row and the next, over all sets


class SenseVectors:
    """
    A vector in each layer for every sense of a training corpus: the mean over its
    annotations. An instance with several keys counts for each of them.
    """

    def __init__(self, corpus: SenseCorpus, frozen: Layers) -> None:
        self.by_lemma: dict[Lemma, dict[str, None]] = {}  # its senses, in order
        sums: dict[str, Tensor] = {}
        for target, single in corpus.target_vectors(frozen):
            vectors = single.double()
            senses = self.by_lemma.setdefault((target.lemma, target.pos), {})
            for key in corpus.keys[target.id]:
                senses[key] = None
                if key in sums:
                    sums[key] = sums[key] + vectors
                else:
                    sums[key] = vectors
        # The direction of the mean is that of the sum: [L+1, D] each.
        self.directions: dict[str, Tensor] = {}
        for key in list(sums):
            self.directions[key] = normalize(sums.pop(key), dim=1).float()

    def nearest(self, target: Target, vectors: Tensor) -> list[str] | None:
        """
        The nearest sense by cosine to each layer's vector [L+1, D], among those of the
        same lemma and part of speech; `None` if there are none. Ties (within `TIE`) go
        to the sense that comes first in the training corpus.
        """
        senses = list(self.by_lemma.get((target.lemma, target.pos), ()))
        if not senses:
            return None
        directions = [self.directions[key] for key in senses]
        of_senses = torch.stack(directions, 1)  # [L+1, senses, D]
        own = normalize(vectors, dim=1)  # [L+1, D]
        cosines = torch.einsum("lsd,ld->ls", of_senses, own)  # [L+1, senses]
        is_nearest = cosines >= cosines.amax(1, keepdim=True) - TIE
        first_nearest = is_nearest.numpy().argmax(1)  # [L+1]
        return [senses[int(index)] for index in first_nearest]


def probe_senses(
    frozen: Layers,
    train_file: str | Path,
    evaluation_files: Iterable[str | Path],
    index_sense: str | Path,
) -> WsdReport:
    """
    Disambiguate word senses with each frozen layer (Table 5), from the nearest sense
    vector of `train_file`, by cosine.

    The files are XML in the format of Raganato et al. (2017), such as `semcor.data.xml`
    and `senseval2.data.xml`, with their keys in the same folders; `index_sense` is
    WordNet's `index.sense`. All are checked before the first is encoded.

    Raises `InputError` if a file is invalid.
    """
    train = SenseCorpus.of(train_file)
    sets = [SenseCorpus.of(file) for file in evaluation_files]
    first_senses = read_first_senses(index_sense)
    vectors = SenseVectors(train, frozen)
    answers, unknown = _answers(sets, frozen, vectors, first_senses)
    gold = _gold(sets)
    names = [corpus.name for corpus in sets]
    rows = []
    right = {}
    for name, of_row in answers.items():
        rows.append(WsdRow(name, _scores(names, gold, of_row)))
        right[name] = np.array([key in gold[one] for one, key in of_row.items()])
    return WsdReport(
        rows=rows,
        instances=len(train.keys),
        senses=len(vectors.directions),
        first_sense_used=len(unknown),
        unanswered=unknown.count(None),
        discordant=neighbours(right),
    )


def _answers(
    sets: list[SenseCorpus],
    frozen: Layers,
    vectors: SenseVectors,
    first_senses: Mapping[Lemma, str],
) -> tuple[dict[str, Answers], list[str | None]]:
    """
    The answers of each row, and for each instance whose lemma is not in the training
    corpus its first sense, which is the answer of all rows, or `None`.
    """
    answers: dict[str, Answers] = {}
    unknown: list[str | None] = []
    for corpus in sets:
        for target, layer_vectors in corpus.target_vectors(frozen):
            first = first_senses.get((target.lemma, target.pos))
            nearest: Sequence[str | None] | None = vectors.nearest(
                target, layer_vectors
            )
            if nearest is None:
                unknown.append(first)
                nearest = [first] * len(layer_vectors)
            by_row = {FIRST_SENSE: first}
            for layer, key in enumerate(nearest):
                by_row[f"{frozen.label} {layer}"] = key
            for name, key in by_row.items():
                answers.setdefault(name, {})[corpus.name, target.id] = key
    return answers, unknown


def _gold(sets: list[SenseCorpus]) -> dict[Instance, set[str]]:
    """The gold keys of all instances."""
    gold = {}
    for corpus in sets:
        for name, keys in corpus.keys.items():
            gold[corpus.name, name] = set(keys)
    return gold


def _scores(
    names: list[str], gold: Mapping[Instance, set[str]], answers: Answers
) -> dict[str, Score]:
    """Of one row: by set, and over several sets together."""
    columns = {name: [name] for name in names}
    if len(names) > 1:
        columns[ALL] = names
        if DEVELOPMENT in names:
            columns[TESTS] = [name for name in names if name != DEVELOPMENT]
    scores = {}
    for column, members in columns.items():
        in_column = {}
        for instance, keys in gold.items():
            corpus_name, _ = instance
            if corpus_name in members:
                in_column[instance] = keys
        scores[column] = score(in_column, answers)
    return scores


def score(gold: Mapping[Instance, Collection[str]], answers: Answers) -> Score:
    """
    The score of the answers to instances with these gold keys, as the official scorer
    of Raganato et al. (2017) has it: with R right answers, which are among the gold
    keys, the precision is R over the answered instances, the recall R over all, and F1
    their harmonic mean.
    """
    answered = 0
    right = 0
    for instance, keys in gold.items():
        answered += answers[instance] is not None
        right += answers[instance] in keys
    precision = 0.0
    recall = 0.0
    f1 = 0.0
    if right:
        precision = right / answered
        recall = right / len(gold)
        f1 = 2 * precision * recall / (precision + recall)
    return Score(
        precision=100 * precision,
        recall=100 * recall,
        f1=100 * f1,
        answered=answered,
        instances=len(gold),
    )


def train_file_in(folder: Path) -> Path:
    """
    SemCor in a folder of Raganato et al.'s layout, or directly in the folder. Raises
    `InputError`.
    """
    for below in _TRAIN_FOLDERS:
        path = folder / below / f"semcor{DATA_SUFFIX}"
        if path.is_file():
            return path
    raise InputError(
        f"expected SemCor/semcor{DATA_SUFFIX} in the folder",
        file=folder,
        hint=CORPUS_HINT,
    )


def evaluation_files_in(folder: Path) -> list[Path]:
    """
    Every evaluation set of the folder except `ALL`, the concatenation of the others.
    Raises `InputError`.
    """
    files = sorted(folder.glob(f"Evaluation_Datasets/*/*{DATA_SUFFIX}"))
    found = [file for file in files if file.parent.name != _CONCATENATION]
    if not found:
        problem = f"expected Evaluation_Datasets/NAME/NAME{DATA_SUFFIX} in the folder"
        raise InputError(problem, file=folder, hint=CORPUS_HINT)
    names = [file.name.removesuffix(DATA_SUFFIX) for file in found]
    if len({*names, ALL, TESTS}) < len(names) + 2:
        raise InputError(
            "two evaluation sets have the same name, or one that the table has",
            file=folder,
        )
    return found
