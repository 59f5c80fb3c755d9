"""Parts of speech by a linear softmax on each frozen layer (paper, section 5.3 and Table 6)."""

import os
import warnings
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from tqdm import tqdm

from elmo_tasks.elmo.layers import Layers
from elmo_tasks.errors import InputError
from elmo_tasks.experiments.probes.layers import all_layers
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
    Table 6 on these files: for every layer a softmax, trained on one file and scored on the other. Takes
    `2 (L+1) D + 4 D` bytes of memory per token of the training file. For the files see `read_tagged`.

    Raises `InputError` if a file is invalid, both are the same, or the training file has only one tag.
    """
    if os.path.realpath(train_file) == os.path.realpath(test_file):
        raise InputError(
            "expected another file to score than the one to train on", file=test_file
        )
    train, test = list(read_tagged(train_file)), list(read_tagged(test_file))
    (train_words, train_tags), (words, gold) = _tokens(train), _tokens(test)
    tags = len(set(train_tags))
    if tags < 2:
        raise InputError(
            f"expected at least two different tags, got {train_tags[0]!r} alone",
            file=train_file,
        )
    known = set(train_words)
    unseen = np.array([word not in known for word in words])  # [N]

    right: dict[str, np.ndarray] = {}

    def row(
        name: str, predicted: Sequence[str] | np.ndarray, steps: int | None = None
    ) -> PosRow:
        right[name] = found = np.array(predicted) == np.array(gold)  # [N]
        seen, new = _percent(found[~unseen]), _percent(found[unseen])
        return PosRow(name, _percent(found), seen, new, steps)

    rows = [row(BASELINE, _most_frequent(train_words, train_tags, words))]
    of_files = [
        all_layers(frozen, (sentence.words for sentence in sentences))
        for sentences in (train, test)
    ]
    layers = list(zip(*of_files, strict=True))
    for layer, (features, scored) in enumerate(
        tqdm(layers, desc="layers", disable=None, leave=False)
    ):
        fitted, steps = fit_softmax(features, train_tags)
        rows.append(
            row(
                f"{frozen.label} {layer}",
                fitted.predict(scored.astype(np.float32)),
                steps,
            )
        )
    return PosReport(
        rows, tags, len(train_words), len(words), int(unseen.sum()), neighbours(right)
    )


def _tokens(sentences: Sequence[TaggedSentence]) -> tuple[list[str], list[str]]:
    words = [word for sentence in sentences for word in sentence.words]
    return words, [tag for sentence in sentences for tag in sentence.tags]


def _percent(right: np.ndarray) -> float | None:
    return 100 * float(right.mean()) if len(right) else None


def _most_frequent(
    train_words: list[str], train_tags: list[str], words: list[str]
) -> list[str]:
    """Each word's most frequent tag; for an unseen word, that of most word types seen once."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for word, tag in zip(train_words, train_tags, strict=True):
        counts[word][tag] += 1
    best = {
        word: max(found, key=lambda tag: (found[tag], tag))
        for word, found in counts.items()
    }
    rare = Counter(
        best[word] for word, found in counts.items() if found.total() == 1
    ) or Counter(train_tags)
    unknown = max(rare, key=lambda tag: (rare[tag], tag))
    return [best.get(word, unknown) for word in words]


def fit_softmax(features: np.ndarray, labels: Sequence[str]) -> tuple["Pipeline", int]:
    """
    Train on features [N, D] and N labels, at least two of them different: minimize the mean negative log-likelihood +
    ||W||^2 / 2N, where W are the weights of features with mean 0 and variance 1 on the training data. The minimum is
    unique: there is no seed, and the order does not matter. Returns the classifier and the steps of L-BFGS.
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
