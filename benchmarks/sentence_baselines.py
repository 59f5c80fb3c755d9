"""
Two classes of sentiment by logistic regression: TF-IDF of words, and the mean of the
word vectors and of ELMo's. benchmarks/README.md has the numbers.

    python benchmarks/sentence_baselines.py $ELMO_TASKS_DATA/sst
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from elmo_tasks import Elmo
from elmo_tasks.formats.annotation.trees import read_trees

STRENGTHS = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0]
"""Values of C, of which each classifier gets the best in five folds of training."""

NEUTRAL = "2"
NAMES = ("tf-idf of words", "tf-idf of words and pairs", "ELMo, layer 0", "ELMo")


def sentences(file: Path) -> tuple[list[list[str]], np.ndarray]:
    """The sentences that are not neutral, and whether each is positive, bool [N]."""
    words = []
    positive = []
    for tree in read_trees(str(file)):
        if tree.root.label != NEUTRAL:
            words.append(list(tree.words))
            positive.append(tree.root.label > NEUTRAL)
    return words, np.array(positive)


def fitted(steps: Sequence[Any], features: Any, positive: np.ndarray) -> Any:
    """The steps and a logistic regression, with the best of `STRENGTHS`."""
    pipeline = make_pipeline(*steps, LogisticRegression(max_iter=5000))
    grid = {"logisticregression__C": STRENGTHS}
    return GridSearchCV(pipeline, grid, cv=5).fit(features, positive)


def right(name: str, train: Any, dev: Any, elmo: Elmo) -> tuple[np.ndarray, float]:
    """Which sentences of `dev` a classifier gets right, bool [N], and its C."""
    steps: list[Any] = [StandardScaler()]
    texts = [train[0], dev[0]]
    features: list[Any]
    if name.startswith("tf-idf"):
        longest = 2 if name.endswith("pairs") else 1
        # `analyzer` would leave out the pairs: the words are split already.
        tfidf = TfidfVectorizer(
            tokenizer=str.split, token_pattern=None, ngram_range=(1, longest)
        )
        steps = [tfidf]
        features = [[" ".join(words) for words in text] for text in texts]
    else:
        layer = 0 if name.endswith("0") else "average"
        features = [elmo.encode(text, layers=layer) for text in texts]
    found = fitted(steps, features[0], train[1])
    strength = found.best_params_["logisticregression__C"]
    return found.predict(features[1]) == dev[1], strength


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder of train.txt and dev.txt")
    parser.add_argument("--model", help="another ELMo than the bundled one")
    args = parser.parse_args()
    elmo = Elmo.from_pretrained(args.model, device="cpu")
    train, dev = [sentences(args.data / f"{name}.txt") for name in ("train", "dev")]
    print(f"{len(train[0]):,} and {len(dev[0]):,} sentences")
    first = None
    for name in NAMES:
        found, strength = right(name, train, dev, elmo)
        line = f"{name:26} {with_error(found)}  C {strength:g}"
        if first is None:
            first = found
        else:
            line += f"  more than tf-idf: {with_error(found.astype(float) - first)}"
        print(line, flush=True)


def with_error(values: np.ndarray) -> str:
    """The mean in percent, and its standard error over sentences."""
    error = values.std(ddof=1) / np.sqrt(len(values))
    return f"{100 * values.mean():.1f} ± {100 * error:.1f}"


if __name__ == "__main__":
    main()
