"""Clipping by norm where some gradients are sparse (embeddings with `sparse: true`)."""

from collections.abc import Iterable
from typing import Any

import torch
from allennlp.training import gradient_descent_trainer
from allennlp.training import util as training_util
from torch.nn.utils import clip_grad_norm_ as clip_dense


def stored_values(parameter: torch.Tensor) -> torch.Tensor:
    """The numbers that the gradient of `parameter` stores, each once, as a view."""
    gradient = parameter.grad
    if gradient is None or not gradient.is_sparse:
        return torch.empty(0) if gradient is None else gradient
    # Repeated rows add up; uncoalesced they would be counted one by one.
    parameter.grad = gradient.coalesce()
    return parameter.grad._values()


def clip_grad_norm_(parameters: torch.Tensor | Iterable[torch.Tensor], max_norm: float, **options: Any) -> torch.Tensor:
    """
    `torch.nn.utils.clip_grad_norm_` for dense and sparse gradients: the L2 norm over all of them is
    at most `max_norm`.

    # Returns

    norm : `torch.Tensor`
        The norm before clipping, a scalar.
    """
    listed = [parameters] if isinstance(parameters, torch.Tensor) else list(parameters)
    if not any(p.grad is not None and p.grad.is_sparse for p in listed):
        return clip_dense(listed, max_norm, **options)
    values = [stored_values(p) for p in listed if p.grad is not None]
    device = values[0].device
    norm = torch.stack([torch.linalg.vector_norm(v).to(device) for v in values]).norm()
    scale = (max_norm / (norm + 1e-6)).clamp(max=1.0)
    for value in values:
        value.mul_(scale.to(value.device))
    return norm


def clip_sparse_gradients() -> None:
    """
    Gives the trainer's `grad_norm` a norm of sparse gradients on CPU.

    PyTorch has no `linalg_vector_norm` for sparse tensors on CPU, so that `grad_norm` beside a
    sparse embedding stops the first step. Only the two names that AllenNLP imported are replaced,
    PyTorch's own function is left alone. It can go when PyTorch clips sparse gradients.
    """
    gradient_descent_trainer.clip_grad_norm_ = clip_grad_norm_
    training_util.clip_grad_norm_ = clip_grad_norm_
