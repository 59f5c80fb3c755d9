"""A linear softmax on fixed features, trained to convergence."""

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

MAX_STEPS = 2_000
TOLERANCE = 1e-4
"""Training ends when no element of the gradient is larger."""


class LinearSoftmax(NamedTuple):
    """A trained softmax, with the scaling of its features."""

    classifier: "Pipeline"
    loss: float  # mean negative log-likelihood of the training labels
    steps: int  # of L-BFGS
    converged: bool  # before the maximum number of steps

    def predict(self, features: np.ndarray) -> np.ndarray:
        """The most probable label of each feature vector [N, D]."""
        return self.classifier.predict(features.astype(np.float32))


def fit_softmax(features: np.ndarray, labels: Sequence[str], *, max_steps: int = MAX_STEPS) -> LinearSoftmax:
    """
    Train on features [N, D] and N labels, at least two of them different: minimize the mean negative log-likelihood +
    ||W||^2 / 2N, where W are the weights of features with mean 0 and variance 1 on the training data. The minimum is
    unique: there is no seed, and the order does not matter.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import log_loss
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler(copy=False)
    standard = scaler.fit_transform(features.astype(np.float32))
    classifier = LogisticRegression(C=1.0, tol=TOLERANCE, max_iter=max_steps)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        classifier.fit(standard, labels)
    loss = log_loss(labels, classifier.predict_proba(standard), labels=classifier.classes_)
    steps = int(classifier.n_iter_[0])
    return LinearSoftmax(make_pipeline(scaler, classifier), float(loss), steps, steps < max_steps)
