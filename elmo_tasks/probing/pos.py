"""Parts of speech by one linear softmax on a frozen layer (paper, section 5.3 and Table 6)."""

import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np

from elmo_tasks.errors import InputError
from elmo_tasks.probing.apart import check_overlap, digest
from elmo_tasks.probing.layers import Source, encode_blocks, to_half
from elmo_tasks.probing.softmax import MAX_STEPS, LinearSoftmax, fit_softmax
from elmo_tasks.probing.tagged import TaggedSentence, read_tagged

BASELINE = "most frequent tag"


class PosRow(NamedTuple):
    """
    # Parameters

    name : `str`
        `BASELINE`, or the source's name and the layer.
    accuracy, seen, unseen : `float` or `None`
        In percent, of all test tokens, of those whose word the training file has as it is written, and of the others;
        `None` where there are no such tokens.
    fitted : `LinearSoftmax`, optional
        How the training ended.
    """

    name: str
    accuracy: float | None
    seen: float | None
    unseen: float | None
    fitted: LinearSoftmax | None = None


class PosReport(NamedTuple):
    """
    # Parameters

    rows : `list[PosRow]`
    tags : `int`
        In the training file.
    train_tokens, test_tokens, unseen_tokens : `int`
    shared : `float`
        The share of the test file's sentences that stand in the training file, too.
    """

    rows: list[PosRow]
    tags: int
    train_tokens: int
    test_tokens: int
    unseen_tokens: int
    shared: float


class _Tagged(NamedTuple):
    """A file's sentences, and all their words and tags in one row."""

    sentences: list[TaggedSentence]
    words: list[str]
    tags: list[str]

    @classmethod
    def of(cls, file: str | Path, form: str) -> "_Tagged":
        sentences = list(read_tagged(file, form=form))
        words = [word for sentence in sentences for word in sentence.words]
        return cls(sentences, words, [tag for sentence in sentences for tag in sentence.tags])


def probe_pos(
    source: Source, train_file: str | Path, test_file: str | Path, *, form: str = "auto", max_steps: int = MAX_STEPS
) -> PosReport:
    """
    Table 6 on these files: for every layer a softmax of its own, trained on the one file and scored on the other. The
    training file's layers lie in a temporary folder meanwhile, `2 (L+1) D` bytes a token.

    # Parameters

    source : `Source`
    train_file, test_file : `str` or `Path`
        As `read_tagged` reads them.
    form : `str`
        Of both files.

    # Raises

    `InputError`
        If a file is not sound, or the test file is the training file; if the layers cannot be written.
    """
    train, test = _Tagged.of(train_file, form), _Tagged.of(test_file, form)
    trained = {digest(sentence.words) for sentence in train.sentences}
    scored = (sentence.words for sentence in test.sentences)
    shared = check_overlap(trained, scored, train_file=train_file, test_file=test_file)
    score = _Scorer(train, test)
    tags = sorted(set(train.tags))
    labels = np.array([tags.index(tag) for tag in train.tags])  # [N]
    rows = [score.row(BASELINE, _most_frequent(train, test.words))]
    with _layer_files(source, train, test) as pairs:
        for layer, (features, test_features) in enumerate(pairs):
            fitted = fit_softmax(features, labels, classes=len(tags), max_steps=max_steps)
            predicted = [tags[label] for label in fitted.predict(test_features)]
            rows.append(score.row(f"{source.name} {layer}", predicted, fitted))
    return PosReport(rows, len(tags), len(train.words), len(test.words), int(score.unseen.sum()), shared)


class _Scorer:
    def __init__(self, train: _Tagged, test: _Tagged) -> None:
        known = set(train.words)
        self._tags = np.array(test.tags, dtype=object)
        self.unseen = np.array([word not in known for word in test.words])  # [N]

    def row(self, name: str, predicted: Sequence[str], fitted: LinearSoftmax | None = None) -> PosRow:
        right = np.array(predicted, dtype=object) == self._tags  # [N]
        return PosRow(name, _percent(right), _percent(right[~self.unseen]), _percent(right[self.unseen]), fitted)


def _percent(right: np.ndarray) -> float | None:
    return 100 * float(right.mean()) if len(right) else None


def _most_frequent(train: _Tagged, words: list[str]) -> list[str]:
    """For each word the tag that it has most often; for one never seen that of most word types seen once."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for word, tag in zip(train.words, train.tags, strict=True):
        counts[word][tag] += 1
    best = {word: max(found, key=lambda tag: (found[tag], tag)) for word, found in counts.items()}
    rare = Counter(best[word] for word, found in counts.items() if found.total() == 1) or Counter(train.tags)
    unknown = max(rare, key=lambda tag: (rare[tag], tag))
    return [best.get(word, unknown) for word in words]


@contextmanager
def _layer_files(source: Source, train: _Tagged, test: _Tagged) -> Iterator[list[tuple[np.ndarray, np.ndarray]]]:
    """Each layer's vectors of both files' tokens, in a folder that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="elmo-layers-") as folder:
        parts = ("train", train), ("test", test)
        try:
            files = [_write_layers(source, part.sentences, Path(folder) / name) for name, part in parts]
        except OSError as error:
            hint = "TMPDIR names a folder with more room"
            raise InputError(f"cannot write the layers: {error.strerror}", file=folder, hint=hint) from None
        yield list(zip(*files, strict=True))


def _write_layers(source: Source, sentences: list[TaggedSentence], folder: Path) -> list[np.ndarray]:
    """The layers of all tokens, float16, mapped from a file each: L+1 of [N, D]."""
    folder.mkdir()
    layers, width = source.shape()
    paths = [folder / str(layer) for layer in range(layers)]
    with ExitStack() as stack:
        files = [stack.enter_context(path.open("wb")) for path in paths]
        for block in encode_blocks(source.encoder, sentences, words=lambda sentence: sentence.words, what="encoding"):
            for file, rows in zip(files, to_half(block.layers), strict=True):
                file.write(rows.numpy().tobytes())
    return [np.memmap(path, np.float16, "c").reshape(-1, width) for path in paths]
