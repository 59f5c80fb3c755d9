"""The sources of layers: the biLM, CoVe, transformers, and those that other packages register."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar

import torch
from torch import Tensor, nn

from elmo_tasks.bilm.bilm import BiLM, BiLMOutput
from elmo_tasks.elmo.cove import CoVe
from elmo_tasks.elmo.transformer import Transformer
from elmo_tasks.errors import InputError

BILM, COVE, TRANSFORMER = "bilm", "cove", "transformer"


class LayerSource(Protocol):
    """
    An `nn.Module` that computes layers from character ids: `BiLM`, `CoVe`, `Transformer` or one of your own.

    `n_layers` is L+1, `output_dim` the width D, and `dtype` the data type of the layers. `state` is `reset` if a
    sentence's layers do not depend on other sentences, else `carry`. The layer cache keeps those of different
    `precision` apart.
    """

    @property
    def n_layers(self) -> int: ...

    @property
    def output_dim(self) -> int: ...

    @property
    def dtype(self) -> torch.dtype: ...

    @property
    def precision(self) -> str: ...

    state: str

    def __call__(self, character_ids: Tensor, /) -> BiLMOutput:
        """The layers [L+1, B, T, D] and the mask [B, T] of words with ids [B, T, C]; zero for padding."""
        ...

    def parameters(self) -> Iterator[nn.Parameter]: ...

    def to(self, device: Any, /) -> Self: ...

    def eval(self) -> Self: ...

    def requires_grad_(self, requires_grad: bool, /) -> Self: ...

    def _apply(self, *args: Any, **kwargs: Any) -> Any: ...


@dataclass(frozen=True)
class SourceType:
    """
    A value of `model.elmo.source`.

    # Parameters

    - `label`: its name in messages and tables.
    - `files`: the keys of its files, among `FILE_KEYS`, and what each file is.
    - `load`: called with the local paths of the files, and with the values of `options`.
    - `options`: which of the keys `state`, `precision` and `pieces` it has; the others must have their defaults.
    - `archives`: whether `archive` may be true.
    """

    label: str
    files: Mapping[str, str]
    load: Callable[..., LayerSource]
    options: tuple[str, ...] = ()
    archives: bool = True


def _open_bilm(options_file: Path, weight_file: Path, *, state: str, precision: str) -> BiLM:
    bilm = BiLM.from_files(options_file, weight_file, precision=precision, packed=True)
    bilm.state = state
    return bilm


SOURCES = {
    BILM: SourceType(
        "biLM",
        {"options_file": "the biLM's options", "weight_file": "the biLM's weights"},
        _open_bilm,
        options=("state", "precision"),
    ),
    COVE: SourceType(
        "CoVe",
        {"vectors_file": "CoVe's word vectors", "weight_file": "CoVe's weights"},
        CoVe.from_files,
        archives=False,
    ),
    TRANSFORMER: SourceType(
        "transformer", {"model": "the transformer's files"}, Transformer, options=("precision", "pieces")
    ),
}
FILE_KEYS = ("options_file", "vectors_file", "weight_file", "model")
"""The keys of files. `model` is a folder in Hugging Face's format, or the name of a model of their hub."""

_Load = TypeVar("_Load", bound=Callable[..., Any])


def register_source(name: str, *, files: Mapping[str, str], options: tuple[str, ...] = ()) -> Callable[[_Load], _Load]:
    """
    Make a class or function the source `name`: `model.elmo.source: NAME` calls it with the paths of its files.

    # Parameters

    - `files`, `options`: see `SourceType`.

    Raises `InputError` if the name is taken, or a key of a file is unknown.
    """
    if name in SOURCES:
        raise InputError(f"layer source {name}: expected a new name, known are {', '.join(SOURCES)}")
    if len(files) not in (1, 2) or not files.keys() <= set(FILE_KEYS):
        problem = f"expected one or two of the files {', '.join(FILE_KEYS)}, got {', '.join(files) or 'none'}"
        raise InputError(f"layer source {name}: {problem}")

    def register(load: _Load) -> _Load:
        SOURCES[name] = SourceType(name, dict(files), load, options)
        return load

    return register
