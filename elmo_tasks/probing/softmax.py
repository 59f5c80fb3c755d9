"""A linear softmax over fixed features, trained until it is the best one there is."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor
from torch.nn.functional import log_softmax

ROWS = 32_768
"""Feature vectors in memory at once."""

COARSE, COARSE_TOLERANCE = 8, 1e-3
"""Every eighth vector is trained on first, roughly, so that fewer steps over all of them are left."""

MAX_STEPS = 2_000
GRADIENT_TOLERANCE = 1e-5
LOSS_TOLERANCE = 1e-6
"""Training ends where no element of the gradient is larger, or a step lowers the loss by less (nats a token)."""


class LinearSoftmax(NamedTuple):
    """
    # Parameters

    weight : `Tensor`, shape [K, D]
    bias : `Tensor`, shape [K]
    loss : `float`
        Mean negative log-likelihood of the training labels.
    steps : `int`
        Of L-BFGS over all vectors.
    converged : `bool`
        Whether a tolerance ended the training, and not `MAX_STEPS`.
    """

    weight: Tensor
    bias: Tensor
    loss: float
    steps: int
    converged: bool

    def predict(self, features: np.ndarray) -> np.ndarray:
        """The most probable label of each feature vector [N, D]: int64, shape [N]."""
        parts = [(rows @ self.weight.T + self.bias).argmax(1).numpy() for rows in _chunks(features)]
        return np.concatenate(parts) if parts else np.zeros(0, np.int64)


def fit_softmax(
    features: np.ndarray, labels: Sequence[int] | np.ndarray, *, classes: int, max_steps: int = MAX_STEPS
) -> LinearSoftmax:
    """
    Minimises the mean negative log-likelihood + ||W||^2 / 2N by L-BFGS from zeros, where W are the weights of features
    with mean 0 and variance 1 over the training data. That has one minimum, so that no seed and no order matter.

    # Parameters

    features : `np.ndarray`, shape [N, D]
        Any float type; may be mapped from a file, in the mode "c".
    labels : `Sequence[int]` or `np.ndarray`, shape [N]
        In [0, K).
    classes : `int`
        K.
    """
    frame, targets = _Frame.of(features), torch.as_tensor(np.asarray(labels))
    flat = np.zeros(classes * (features.shape[1] + 1))
    limits = {"maxiter": max_steps, "maxfun": 2 * max_steps, "gtol": GRADIENT_TOLERANCE}
    for every, tolerance in ((COARSE, COARSE_TOLERANCE), (1, LOSS_TOLERANCE)):
        objective = _Objective(features[::every], targets[::every], classes, frame)
        found = minimize(objective, flat, jac=True, method="L-BFGS-B", options=limits | {"ftol": tolerance})
        flat = found.x
    weight, bias = objective.weights(torch.from_numpy(flat))
    loss = float(found.fun) - objective.penalty(torch.from_numpy(flat))
    return LinearSoftmax(weight.float(), bias.float(), loss, int(found.nit), found.status == 0)


class _Frame(NamedTuple):
    """
    How the parameters that L-BFGS sees stand to the weights. Where features go together, steps along single weights
    are slow; so it sees V with W = V A, where A A is the inverse of the features' covariance + 1/N.

    # Parameters

    mean, scale : `Tensor`, float64, shape [D]
        Mean and standard deviation of each feature; infinite for one that never changes.
    turned : `Tensor`, float64, shape [D, D]
        A.
    """

    mean: Tensor
    scale: Tensor
    turned: Tensor

    @classmethod
    def of(cls, features: np.ndarray) -> "_Frame":
        mean, variance = torch.zeros(2, features.shape[1], dtype=torch.double)
        for rows in _chunks(features):
            mean += rows.double().sum(0) / len(features)
        for rows in _chunks(features):
            variance += ((rows.double() - mean) ** 2).sum(0) / len(features)
        changes = variance > 1e-12 * mean**2  # beyond what rounding makes of the mean
        scale = torch.where(changes, variance, torch.inf).sqrt()
        return cls(mean, scale, _inverse_root(features, mean, scale))


class _Objective:
    """Loss and gradient by flat parameters: K x D for the weights, then K biases."""

    def __init__(self, features: np.ndarray, labels: Tensor, classes: int, frame: _Frame) -> None:
        self._features, self._labels, self._classes, self._frame = features, labels, classes, frame

    def weights(self, flat: Tensor) -> tuple[Tensor, Tensor]:
        """Weights and biases for the features as they are: [K, D] and [K]."""
        weight = self._standardised(flat) / self._frame.scale
        return weight, flat[-self._classes :] - weight @ self._frame.mean

    def penalty(self, flat: Tensor) -> float:
        """||W||^2 / 2N."""
        return float((self._standardised(flat) ** 2).sum()) / (2 * len(self._features))

    def _standardised(self, flat: Tensor) -> Tensor:
        """W, the weights of features with mean 0 and variance 1: [K, D]."""
        return flat[: -self._classes].view(self._classes, -1) @ self._frame.turned

    def __call__(self, flat: np.ndarray) -> tuple[float, np.ndarray]:
        parameters = torch.from_numpy(flat)
        weight, bias = (part.float() for part in self.weights(parameters))
        loss, weight_gradient, bias_gradient = 0.0, torch.zeros_like(weight).double(), torch.zeros_like(bias).double()
        labels = iter(self._labels.split(ROWS))
        for rows in _chunks(self._features):
            wanted = next(labels)
            log_probabilities = log_softmax(rows @ weight.T + bias, 1)  # [n, K]
            loss -= float(log_probabilities.gather(1, wanted[:, None]).double().sum())
            excess = log_probabilities.exp_()
            excess[torch.arange(len(wanted)), wanted] -= 1
            weight_gradient += excess.T @ rows
            bias_gradient += excess.sum(0)
        return self._with_penalty(loss, weight_gradient, bias_gradient, parameters)

    def _with_penalty(
        self, loss: float, weight_gradient: Tensor, bias_gradient: Tensor, parameters: Tensor
    ) -> tuple[float, np.ndarray]:
        """Of sums over N vectors to means, by the parameters."""
        count, standardised = len(self._features), self._standardised(parameters)  # [K, D]
        slope = (weight_gradient - bias_gradient[:, None] * self._frame.mean) / self._frame.scale + standardised
        gradient = torch.cat([(slope @ self._frame.turned).flatten(), bias_gradient]) / count
        return loss / count + self.penalty(parameters), gradient.numpy()


def _chunks(features: np.ndarray) -> Iterator[Tensor]:
    for start in range(0, len(features), ROWS):
        yield torch.from_numpy(features[start : start + ROWS]).float()  # [n, D]


def _inverse_root(features: np.ndarray, mean: Tensor, scale: Tensor) -> Tensor:
    """(C + I / N)^(-1/2), where C is the covariance of the standardised features: float64 [D, D]."""
    covariance = torch.eye(len(mean), dtype=torch.double) / len(features)
    for rows in _chunks(features):
        standardised = (rows - mean.float()) / scale.float()
        covariance += (standardised.T @ standardised).double() / len(features)
    values, vectors = torch.linalg.eigh(covariance)
    return vectors * values.clamp(min=1 / len(features)).rsqrt() @ vectors.T
