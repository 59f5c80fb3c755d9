"""The linear softmax: its definition, and what it reports."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from elmo_tasks.experiments.probes.pos import fit_softmax

Data = tuple[np.ndarray, list[str]]


@pytest.fixture(scope="module")
def data() -> Data:
    """400 points in 4 overlapping classes, with 6 features on very different scales, the last one constant."""
    rng = np.random.default_rng(5)
    labels = rng.integers(4, size=400)
    features = rng.normal(size=(4, 6))[labels] + rng.normal(size=(400, 6))
    return (features * [1, 0.01, 30, 1, 5, 0] + [0, 0, 0, 7, 0, 2]).astype(np.float32), ["abcd"[k] for k in labels]


def test_the_minimum(data: Data) -> None:
    features, labels = data
    fitted = fit_softmax(features, labels)
    standard = (features - features.mean(0)) / np.where(features.std(0) > 0, features.std(0), 1)
    reference = LogisticRegression(C=1.0, tol=1e-10, max_iter=1000).fit(standard.astype(np.float64), labels)
    probabilities = reference.predict_proba(standard)
    np.testing.assert_allclose(fitted.classifier.predict_proba(features.copy()), probabilities, atol=2e-3)
    assert fitted.loss == pytest.approx(
        -np.log(probabilities[np.arange(400), ["abcd".index(k) for k in labels]]).mean(), abs=1e-5
    )
    assert (fitted.predict(features) == reference.predict(standard)).mean() > 0.99
    assert fitted.converged


def test_no_convergence_is_reported(data: Data) -> None:
    fitted = fit_softmax(*data, max_steps=3)
    assert (fitted.steps, fitted.converged) == (3, False)
