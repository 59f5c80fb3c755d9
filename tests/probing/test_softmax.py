"""The linear softmax against scikit-learn's, and against the gradient that its minimum must have."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression

from elmo_tasks.probing import softmax
from elmo_tasks.probing.softmax import fit_softmax


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    """400 points of 6 features on very different scales, the last constant, in 4 classes that overlap."""
    drawn = np.random.default_rng(5)
    labels = drawn.integers(4, size=400)
    centres = drawn.normal(size=(4, 6))
    features = (centres[labels] + drawn.normal(size=(400, 6))) * [1, 0.01, 30, 1, 5, 0] + [0, 0, 0, 7, 0, 2]
    return features.astype(np.float32), labels


def test_against_scikit_learn(data: tuple[np.ndarray, np.ndarray], monkeypatch: pytest.MonkeyPatch) -> None:
    features, labels = data
    monkeypatch.setattr(softmax, "ROWS", 64)
    monkeypatch.setattr(softmax, "LOSS_TOLERANCE", 1e-10)
    fitted = fit_softmax(features, labels, classes=4)
    scale = np.where(features.std(0) > 0, features.std(0), 1)
    standard = (features - features.mean(0)) / scale
    reference = LogisticRegression(C=1.0, tol=1e-8, max_iter=1000).fit(standard, labels)
    np.testing.assert_allclose(fitted.weight.numpy() * scale, reference.coef_, atol=5e-4)
    logits = torch.from_numpy(features) @ fitted.weight.T + fitted.bias
    probabilities = reference.predict_proba(standard)
    np.testing.assert_allclose(logits.softmax(1).numpy(), probabilities, atol=2e-4)
    assert fitted.loss == pytest.approx(-np.log(probabilities[np.arange(400), labels]).mean(), abs=1e-5)
    assert (fitted.predict(features) == reference.predict(standard)).all()
    assert fitted.converged


def test_the_tolerances_are_fine_enough(data: tuple[np.ndarray, np.ndarray], monkeypatch: pytest.MonkeyPatch) -> None:
    loss = fit_softmax(*data, classes=4).loss
    monkeypatch.setattr(softmax, "LOSS_TOLERANCE", 1e-12)
    monkeypatch.setattr(softmax, "GRADIENT_TOLERANCE", 1e-9)
    assert loss == pytest.approx(fit_softmax(*data, classes=4).loss, abs=2e-5)


def test_it_says_when_it_has_not_converged(data: tuple[np.ndarray, np.ndarray]) -> None:
    fitted = fit_softmax(*data, classes=4, max_steps=3)
    assert (fitted.steps, fitted.converged) == (3, False)


def test_the_same_data_give_the_same_bits(data: tuple[np.ndarray, np.ndarray]) -> None:
    one, other = (fit_softmax(*data, classes=4) for _ in range(2))
    assert torch.equal(one.weight, other.weight) and torch.equal(one.bias, other.bias)
