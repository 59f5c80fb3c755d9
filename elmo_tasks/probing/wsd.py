"""Word senses by the nearest mean of a frozen layer's vectors (paper, section 5.3 and Table 5)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import normalize

from elmo_tasks.errors import InputError
from elmo_tasks.probing.apart import check_overlap, digest
from elmo_tasks.probing.layers import Block, Encoder, Source, encode_blocks
from elmo_tasks.probing.scorer import Score, score
from elmo_tasks.probing.senses import (
    DATA_SUFFIX,
    SenseSentence,
    Target,
    key_file_of,
    read_first_senses,
    read_keys,
    read_senses,
)

ALL, TESTS, DEVELOPMENT = "all", "tests", "semeval2007"
"""Columns over several sets: all of them; all but the development set, which is what the paper's Table 5 is over."""

Keys = Mapping[str, Sequence[str]]
Answers = Mapping[tuple[str, str], Sequence[str]]
Lemma = tuple[str, str]
"""Lemma and part of speech."""

EQUAL = 1e-6
"""Cosines that differ by less are equal: without context a word's senses often differ by rounding alone."""


class SenseCorpus(NamedTuple):
    """
    An annotated file and its keys, found sound.

    # Parameters

    name : `str`
        `senseval2` of `senseval2.data.xml`.
    file : `Path`
    keys : `Mapping[str, Sequence[str]]`
        The gold senses of each instance.
    """

    name: str
    file: Path
    keys: Keys

    @classmethod
    def of(cls, data_file: str | Path) -> "SenseCorpus":
        """
        # Raises

        `InputError`
            With file and line, if either file is not sound, or an instance of one is not in the other.
        """
        file, key_file = Path(data_file), key_file_of(data_file)
        keys = read_keys(key_file)
        unmet = set(keys)
        for sentence in read_senses(file):
            for target in sentence.targets:
                if target.id not in keys:
                    raise InputError(f"{key_file} has no key for {target.id!r}", file=file, line=target.line)
                unmet.discard(target.id)
        if unmet:
            raise InputError(f"{file} has no instance {min(unmet)!r}", file=key_file, hint="are they of one corpus?")
        if not keys:
            raise InputError("annotated instances were wanted, found none", file=file)
        return cls(file.name.removesuffix(DATA_SUFFIX), file, keys)

    def sentences(self) -> Iterator[SenseSentence]:
        """All of them, read anew."""
        return read_senses(self.file)


class WsdRow(NamedTuple):
    """
    # Parameters

    name : `str`
        `first sense`, or the source's name and the layer.
    scores : `dict[str, Score]`
        By evaluation set, and over several.
    answers : `Mapping[tuple[str, str], Sequence[str]]`
        The sense keys of each instance, by set and id, as the text has them; none where there is no answer.
    """

    name: str
    scores: dict[str, Score]
    answers: Answers


class WsdReport(NamedTuple):
    """
    # Parameters

    rows : `list[WsdRow]`
    instances, senses : `int`
        Annotations that the sense vectors are means of, and how many vectors these are, in each layer.
    first_sense_used, unanswered : `int`
        Evaluated instances whose lemma was not seen in training, and those of them that WordNet does not know either.
    shared : `dict[str, float]`
        The share of each set's sentences that stand in the training file, too.
    """

    rows: list[WsdRow]
    instances: int
    senses: int
    first_sense_used: int
    unanswered: int
    shared: dict[str, float]


class SenseVectors:
    """
    A vector in each layer for every sense that a training corpus has: the mean over its annotations. An instance of
    several keys counts for each of them.

    # Parameters

    corpus : `SenseCorpus`
    encoder : `Encoder`
    """

    def __init__(self, corpus: SenseCorpus, encoder: Encoder) -> None:
        self.by_lemma: dict[Lemma, list[str]] = {}
        self._rows: dict[str, int] = {}
        self.sentences: set[bytes] = set()
        for sentence in corpus.sentences():
            self.sentences.add(digest(sentence.words))
            for target in sentence.targets:
                self._enter(target, corpus.keys[target.id])
        self._corpus, self._encoder = corpus, encoder

    def _enter(self, target: Target, keys: Sequence[str]) -> None:
        senses = self.by_lemma.setdefault((target.lemma, target.pos), [])
        for key in keys:
            self._rows.setdefault(key, len(self._rows))
            if key not in senses:
                senses.append(key)

    def __len__(self) -> int:
        return len(self._rows)

    def compute(self) -> None:
        """Encode the corpus. Before this there are senses and no vectors."""
        sums: Tensor | None = None
        for block in encode_blocks(self._encoder, self._corpus.sentences(), words=_words, what=self._corpus.name):
            if sums is None:
                sums = block.layers.new_zeros((len(block.layers), len(self), block.layers.shape[2]))
            targets, vectors = target_vectors(block)  # [L+1, M, D]
            pairs = [(m, self._rows[key]) for m, target in enumerate(targets) for key in self._corpus.keys[target.id]]
            if pairs:
                places, rows = torch.tensor(pairs).T
                sums.index_add_(1, rows, vectors[:, places])
        if sums is None:
            raise ValueError("a corpus of one sentence or more was wanted")
        sums /= torch.linalg.vector_norm(sums, dim=2, keepdim=True).clamp_(min=1e-12)
        self._directions = sums  # those of the means: [L+1, senses, D]

    def nearest(self, target: Target, vectors: Tensor) -> list[str] | None:
        """
        Each layer's nearest sense by cosine among those of the same lemma and part of speech; of equally near ones, to
        `EQUAL`, the one that training met first.

        # Parameters

        vectors : `Tensor`, shape [L+1, D]

        # Returns

        `list[str]` of L+1 sense keys; `None` where training met no sense of the lemma.
        """
        senses = self.by_lemma.get((target.lemma, target.pos))
        if senses is None:
            return None
        rows = [self._rows[key] for key in senses]
        cosines = torch.einsum("lsd,ld->ls", self._directions[:, rows], normalize(vectors, dim=1))  # [L+1, senses]
        near = cosines >= cosines.amax(1, keepdim=True) - EQUAL
        return [senses[int(place)] for place in near.numpy().argmax(1)]  # the first of them


def target_vectors(block: Block[SenseSentence]) -> tuple[list[Target], Tensor]:
    """The targets of a block, and the mean over the tokens of each: [L+1, M, D]."""
    targets: list[Target] = []
    tokens: list[int] = []
    owners: list[int] = []
    for sentence, start in zip(block.items, block.starts, strict=True):
        for target in sentence.targets:
            tokens += range(start + target.start, start + target.end)
            owners += [len(targets)] * (target.end - target.start)
            targets.append(target)
    sums = block.layers.new_zeros((len(block.layers), len(targets), block.layers.shape[2]))
    owner = torch.tensor(owners, dtype=torch.long)
    sums.index_add_(1, owner, block.layers[:, torch.tensor(tokens, dtype=torch.long)])
    return targets, sums / torch.bincount(owner, minlength=len(targets))[:, None]


def probe_senses(
    source: Source, train_file: str | Path, evaluation_files: Iterable[str | Path], index_sense: str | Path
) -> WsdReport:
    """
    Table 5 on these files. All of them are read and found sound before the first is encoded.

    # Parameters

    source : `Source`
    train_file : `str` or `Path`
        `semcor.data.xml`, its keys beside it.
    evaluation_files : `Iterable[str | Path]`
        `senseval2.data.xml` and so on, their keys beside them.
    index_sense : `str` or `Path`
        WordNet's.

    # Raises

    `InputError`
        If a file is not sound, an evaluation file is the training file, or two have the same name.
    """
    train, *sets = (SenseCorpus.of(file) for file in (train_file, *evaluation_files))
    names = [corpus.name for corpus in sets]
    if not sets or len({*names, ALL, TESTS}) != len(names) + 2:
        raise InputError(f"evaluation sets of different names were wanted, found {', '.join(names) or 'none'}")
    first_senses = read_first_senses(index_sense)
    vectors = SenseVectors(train, source.encoder)
    shared = {corpus.name: _require_apart(vectors, train, corpus) for corpus in sets}
    vectors.compute()
    answers = _Answers(source, vectors, first_senses)
    for corpus in sets:
        answers.add(corpus)
    rows = [WsdRow(name, _scores(sets, given), given) for name, given in answers.by_row.items()]
    return WsdReport(rows, len(train.keys), len(vectors), answers.first_sense_used, answers.unanswered, shared)


def _require_apart(vectors: SenseVectors, train: SenseCorpus, corpus: SenseCorpus) -> float:
    words = (sentence.words for sentence in corpus.sentences())
    return check_overlap(vectors.sentences, words, train_file=train.file, test_file=corpus.file)


def _words(sentence: SenseSentence) -> list[str]:
    return sentence.words


class _Answers:
    """What each row answers to each instance, by set and id."""

    def __init__(self, source: Source, vectors: SenseVectors, first_senses: Mapping[Lemma, str]) -> None:
        self._source, self._vectors, self._first_senses = source, vectors, first_senses
        self.by_row: dict[str, dict[tuple[str, str], list[str]]] = {}
        self.first_sense_used = self.unanswered = 0

    def add(self, corpus: SenseCorpus) -> None:
        for block in encode_blocks(self._source.encoder, corpus.sentences(), words=_words, what=corpus.name):
            targets, vectors = target_vectors(block)  # [L+1, M, D]
            for m, target in enumerate(targets):
                self._answer((corpus.name, target.id), target, vectors[:, m])

    def _answer(self, name: tuple[str, str], target: Target, vectors: Tensor) -> None:
        first = self._first_senses.get((target.lemma, target.pos))
        nearest: Sequence[str | None] | None = self._vectors.nearest(target, vectors)
        if nearest is None:
            self.first_sense_used += 1
            self.unanswered += first is None
            nearest = [first] * len(vectors)
        rows = {"first sense": first} | {f"{self._source.name} {layer}": key for layer, key in enumerate(nearest)}
        for row, key in rows.items():
            self.by_row.setdefault(row, {})[name] = [] if key is None else [key]


def _scores(sets: Sequence[SenseCorpus], answers: Answers) -> dict[str, Score]:
    """Of one row: each set's, and over several what their concatenation has."""
    names = [corpus.name for corpus in sets]
    columns = {name: [name] for name in names}
    if len(names) > 1:
        columns[ALL] = names
        if DEVELOPMENT in names:
            columns[TESTS] = [name for name in names if name != DEVELOPMENT]
    gold = {(corpus.name, id_): keys for corpus in sets for id_, keys in corpus.keys.items()}
    return {
        column: score({name: keys for name, keys in gold.items() if name[0] in members}, answers)
        for column, members in columns.items()
    }
