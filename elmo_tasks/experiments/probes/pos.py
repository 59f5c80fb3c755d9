"""Parts of speech by a linear softmax on each frozen layer (paper, section 5.3 and Table 6)."""

import warnings
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from tqdm import tqdm

from elmo_tasks.errors import InputError
from elmo_tasks.experiments.probes.layers import FrozenEncoder, all_layers, check_overlap
from elmo_tasks.experiments.probes.mcnemar import Discordant, neighbours
from elmo_tasks.formats.tagged import TaggedSentence, read_tagged

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

MAX_STEPS = 2_000
TOLERANCE = 1e-4
"""Training ends when no element of the gradient is larger."""

BASELINE = "most frequent tag"


class PosRow(NamedTuple):
    """
    Accuracies of a layer in percent, on all test tokens, on those whose word is in the training file in the same case,
    and on the others; `None` if there are no such tokens.
    """

    name: str  # `BASELINE`, or the encoder's name and the layer
    accuracy: float | None
    seen: float | None
    unseen: float | None
    steps: int | None = None  # of L-BFGS
    converged: bool = True  # before the maximum number of steps


class PosReport(NamedTuple):
    """The rows of the table, and the sizes of the files."""

    rows: list[PosRow]
    tags: int  # in the training file
    train_tokens: int
    test_tokens: int
    unseen_tokens: int
    shared: float  # the share of the test file's sentences that are also in the training file
    discordant: list[Discordant]  # each row and the next


class _Tagged(NamedTuple):
    """A file's sentences, and all their words and tags."""

    sentences: list[TaggedSentence]
    words: list[str]
    tags: list[str]

    @classmethod
    def of(cls, file: str | Path) -> "_Tagged":
        sentences = list(read_tagged(file))
        words = [word for sentence in sentences for word in sentence.words]
        return cls(sentences, words, [tag for sentence in sentences for tag in sentence.tags])

    def layers(self, encoder: FrozenEncoder) -> np.ndarray:
        """The layers of all tokens: float16, [L+1, N, D]."""
        return all_layers(encoder, (sentence.words for sentence in self.sentences))


def probe_pos(
    encoder: FrozenEncoder, train_file: str | Path, test_file: str | Path, *, max_steps: int = MAX_STEPS
) -> PosReport:
    """
    Table 6 on these files: for every layer a softmax, trained on one file and scored on the other. Takes
    `2 (L+1) D + 4 D` bytes of memory per token of the training file. For the files see `read_tagged`.

    Raises `InputError` if a file is invalid, the training file has only one tag, or the test file is the training file.
    """
    train, test = _Tagged.of(train_file), _Tagged.of(test_file)
    sentences = ([sentence.words for sentence in part.sentences] for part in (train, test))
    shared = check_overlap(*sentences, train_file=train_file, test_file=test_file)
    tags = len(set(train.tags))
    if tags < 2:
        raise InputError(f"expected at least two different tags, got {train.tags[0]!r} alone", file=train_file)
    known = set(train.words)
    unseen = np.array([word not in known for word in test.words])  # [N]

    right: dict[str, np.ndarray] = {}

    def row(name: str, predicted: Sequence[str] | np.ndarray, steps: int | None = None) -> PosRow:
        right[name] = found = np.array(predicted) == np.array(test.tags)  # [N]
        seen, new = _percent(found[~unseen]), _percent(found[unseen])
        return PosRow(name, _percent(found), seen, new, steps, steps is None or steps < max_steps)

    rows = [row(BASELINE, _most_frequent(train, test.words))]
    layers = list(zip(train.layers(encoder), test.layers(encoder), strict=True))
    for layer, (features, scored) in enumerate(tqdm(layers, desc="layers", disable=None, leave=False)):
        fitted, steps = fit_softmax(features, train.tags, max_steps=max_steps)
        rows.append(row(f"{encoder.name} {layer}", fitted.predict(scored.astype(np.float32)), steps))
    return PosReport(rows, tags, len(train.words), len(test.words), int(unseen.sum()), shared, neighbours(right))


def _percent(right: np.ndarray) -> float | None:
    return 100 * float(right.mean()) if len(right) else None


def _most_frequent(train: _Tagged, words: list[str]) -> list[str]:
    """Each word's most frequent tag; for an unseen word, that of most word types seen once."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for word, tag in zip(train.words, train.tags, strict=True):
        counts[word][tag] += 1
    best = {word: max(found, key=lambda tag: (found[tag], tag)) for word, found in counts.items()}
    rare = Counter(best[word] for word, found in counts.items() if found.total() == 1) or Counter(train.tags)
    unknown = max(rare, key=lambda tag: (rare[tag], tag))
    return [best.get(word, unknown) for word in words]


def fit_softmax(features: np.ndarray, labels: Sequence[str], *, max_steps: int = MAX_STEPS) -> tuple["Pipeline", int]:
    """
    Train on features [N, D] and N labels, at least two of them different: minimize the mean negative log-likelihood +
    ||W||^2 / 2N, where W are the weights of features with mean 0 and variance 1 on the training data. The minimum is
    unique: there is no seed, and the order does not matter. Returns the classifier and the steps of L-BFGS.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    classifier = LogisticRegression(C=1.0, tol=TOLERANCE, max_iter=max_steps)
    pipeline = make_pipeline(StandardScaler(copy=False), classifier)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        pipeline.fit(features.astype(np.float32), labels)
    return pipeline, int(classifier.n_iter_[0])
