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

MAX_STEPS = 2_000
GRADIENT_TOLERANCE = 1e-5
LOSS_TOLERANCE = 1e-7
"""Training ends where no element of the gradient is larger, or a step lowers the loss by less (nats a token)."""


class LinearSoftmax(NamedTuple):
    """
    # Parameters

    weight : `Tensor`, shape [K, D]
    bias : `Tensor`, shape [K]
    loss : `float`
        Mean negative log-likelihood of the training labels.
    steps : `int`
        Of L-BFGS.
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
        Any float type; may be mapped from a file.
    labels : `Sequence[int]` or `np.ndarray`, shape [N]
        In [0, K).
    classes : `int`
        K.
    """
    objective = _Objective(features, torch.as_tensor(np.asarray(labels)), classes)
    start = np.zeros(classes * (features.shape[1] + 1))
    limits = {"maxiter": max_steps, "maxfun": 2 * max_steps, "gtol": GRADIENT_TOLERANCE, "ftol": LOSS_TOLERANCE}
    found = minimize(objective, start, jac=True, method="L-BFGS-B", options=limits)
    weight, bias = objective.unfold(torch.from_numpy(found.x))
    penalty = float((torch.from_numpy(found.x[:-classes]) ** 2).sum()) / (2 * len(features))
    return LinearSoftmax(weight.float(), bias.float(), float(found.fun) - penalty, int(found.nit), found.status == 0)


class _Objective:
    """Loss and gradient by the flat parameters: K x D weights of standardised features, then K biases."""

    def __init__(self, features: np.ndarray, labels: Tensor, classes: int) -> None:
        self._features, self._labels, self._classes = features, labels, classes
        self._mean, self._scale = _moments(features)

    def unfold(self, flat: Tensor) -> tuple[Tensor, Tensor]:
        """Weights and biases for the features as they are: [K, D] and [K]."""
        standardised, bias = flat[: -self._classes].view(self._classes, -1), flat[-self._classes :]
        weight = standardised / self._scale
        return weight, bias - weight @ self._mean

    def __call__(self, flat: np.ndarray) -> tuple[float, np.ndarray]:
        parameters = torch.from_numpy(flat)
        weight, bias = (part.float() for part in self.unfold(parameters))
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
        """Of sums over N vectors to means, by the parameters of the standardised features."""
        count, weights = len(self._features), parameters[: -self._classes]
        standardised = (weight_gradient - bias_gradient[:, None] * self._mean) / self._scale  # [K, D]
        gradient = torch.cat([standardised.flatten() + weights, bias_gradient]) / count
        return (loss + float(weights @ weights) / 2) / count, gradient.numpy()


def _chunks(features: np.ndarray) -> Iterator[Tensor]:
    for start in range(0, len(features), ROWS):
        yield torch.from_numpy(np.array(features[start : start + ROWS], dtype=np.float32))  # [n, D]


def _moments(features: np.ndarray) -> tuple[Tensor, Tensor]:
    """Mean and standard deviation of each feature, float64 [D]; 1 for one that never changes."""
    mean, variance = torch.zeros(2, features.shape[1], dtype=torch.double)
    for rows in _chunks(features):
        mean += rows.double().sum(0) / len(features)
    for rows in _chunks(features):
        variance += ((rows.double() - mean) ** 2).sum(0) / len(features)
    return mean, torch.where(variance > 0, variance, 1.0).sqrt()
