"""
Parts of speech by a linear softmax on each frozen layer (paper, section 5.3 and Table
6).
"""

import os
import warnings
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from elmo_tasks.elmo.layers import Layers
from elmo_tasks.errors import InputError, needs
from elmo_tasks.experiments.probes.layers import all_layers
from elmo_tasks.experiments.probes.mcnemar import Discordant, neighbours
from elmo_tasks.formats.annotation.tagged import TaggedSentence, read_tagged
from elmo_tasks.system.terminal import terminal_bar

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

MAX_STEPS = 2_000
TOLERANCE = 1e-4
"""Training ends when no element of the gradient is larger."""

BASELINE = "most frequent tag"


class PosRow(NamedTuple):
    """
    Accuracies of a layer in percent, on all test tokens, on those whose word is in the
    training file in the same case, and on the others; `None` if there are no such
    tokens.
    """

    name: str  # `BASELINE`, or the label of the source and the layer
    accuracy: float | None
    seen: float | None
    unseen: float | None
    steps: int | None = None  # of L-BFGS, which has not converged after `MAX_STEPS`


class PosReport(NamedTuple):
    """The rows of the table, and the sizes of the files."""

    rows: list[PosRow]
    tags: int  # in the training file
    train_tokens: int
    test_tokens: int
    unseen_tokens: int
    discordant: list[Discordant]  # each row and the next


def probe_pos(
    frozen: Layers, train_file: str | Path, test_file: str | Path
) -> PosReport:
    """
    Tag parts of speech with each frozen layer (Table 6): a softmax on the layer,
    trained on `train_file` and scored on `test_file`, both CoNLL-U. Takes `2 (L+1) D +
    4 D` bytes of memory per token of the training file.

    Raises `InputError` if a file is invalid, both are the same, the training file has
    only one tag, or scikit-learn is not installed.
    """
    with needs("scikit-learn"):  # before the layers are computed, which takes long
        import sklearn.linear_model  # noqa: F401
    if os.path.realpath(train_file) == os.path.realpath(test_file):
        raise InputError(
            "expected another file to score than the one to train on", file=test_file
        )
    train = list(read_tagged(train_file))
    test = list(read_tagged(test_file))
    train_words, train_tags = _tokens(train)
    words, gold = _tokens(test)
    tags = len(set(train_tags))
    if tags < 2:
        raise InputError(
            f"expected at least two different tags, got only {train_tags[0]!r}",
            file=train_file,
        )
    table = _Table(gold, words, known=set(train_words))
    table.add(BASELINE, _most_frequent(train_words, train_tags, words))
    train_layers = all_layers(frozen, [sentence.words for sentence in train])
    test_layers = all_layers(frozen, [sentence.words for sentence in test])
    numbers = range(len(train_layers))
    for layer in terminal_bar(iterable=numbers, desc="layers", leave=False):
        fitted, steps = fit_softmax(train_layers[layer], train_tags)
        predicted = fitted.predict(test_layers[layer].astype(np.float32))
        table.add(f"{frozen.label} {layer}", predicted, steps)
    return PosReport(
        rows=table.rows,
        tags=tags,
        train_tokens=len(train_words),
        test_tokens=len(words),
        unseen_tokens=int(table.is_unseen.sum()),
        discordant=neighbours(table.right),
    )


class _Table:
    """
    The rows of predictions for N test tokens, `known` being the words of training.
    """

    def __init__(self, gold: list[str], words: list[str], *, known: set[str]) -> None:
        self.rows: list[PosRow] = []
        self.right: dict[str, np.ndarray] = {}  # by row, bool [N]
        self.is_unseen = np.array([word not in known for word in words])  # [N]
        self._gold = np.array(gold)  # [N]

    def add(
        self,
        name: str,
        predicted: Sequence[str] | np.ndarray,
        steps: int | None = None,
    ) -> None:
        right = np.array(predicted) == self._gold  # [N]
        self.right[name] = right
        row = PosRow(
            name=name,
            accuracy=_percent(right),
            seen=_percent(right[~self.is_unseen]),
            unseen=_percent(right[self.is_unseen]),
            steps=steps,
        )
        self.rows.append(row)


def _tokens(sentences: Sequence[TaggedSentence]) -> tuple[list[str], list[str]]:
    """The words of all sentences, and their tags."""
    words: list[str] = []
    tags: list[str] = []
    for sentence in sentences:
        words += sentence.words
        tags += sentence.tags
    return words, tags


def _percent(right: np.ndarray) -> float | None:
    """The share of true values [N]; `None` for N = 0."""
    if not len(right):
        return None
    return 100 * float(right.mean())


def _most_frequent(
    train_words: list[str], train_tags: list[str], words: list[str]
) -> list[str]:
    """
    Each word's most frequent tag; for an unseen word, the most frequent one among words
    seen once, or if there are none, among all tokens. Of equally frequent tags, the
    last in code point order.
    """
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for word, tag in zip(train_words, train_tags, strict=True):
        counts[word][tag] += 1
    best = {word: _most_common(found) for word, found in counts.items()}
    rare: Counter[str] = Counter()
    for word, found in counts.items():
        if found.total() == 1:
            rare[best[word]] += 1
    unknown = _most_common(rare or Counter(train_tags))
    return [best.get(word, unknown) for word in words]


def _most_common(counts: Counter[str]) -> str:
    _, tag = max([(count, tag) for tag, count in counts.items()])
    return tag


def fit_softmax(features: np.ndarray, labels: Sequence[str]) -> tuple["Pipeline", int]:
    """
    Train on features [N, D] and N labels, at least two of them different: minimize the
    mean negative log-likelihood + ||W||^2 / 2N, where W are the weights of features
    with mean 0 and variance 1 on the training data. The minimum is unique: there is no
    seed, and the order does not matter. Returns the classifier and the steps of L-BFGS.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    classifier = LogisticRegression(C=1.0, tol=TOLERANCE, max_iter=MAX_STEPS)
    pipeline = make_pipeline(StandardScaler(copy=False), classifier)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        pipeline.fit(features.astype(np.float32), labels)
    return pipeline, int(classifier.n_iter_[0])
