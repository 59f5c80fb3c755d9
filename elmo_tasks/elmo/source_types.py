"""The sources of layers: the biLM, transformers, ELMoForManyLangs, and those that other packages register."""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Optional, Protocol, Self, TypeVar

import torch
from torch import Tensor, nn

from elmo_tasks.bilm.bilm import BiLM, LayerOutput
from elmo_tasks.elmo.manylangs import open_manylangs
from elmo_tasks.elmo.transformer import Transformer
from elmo_tasks.errors import InputError
from elmo_tasks.formats.fetch import is_whole_model
from elmo_tasks.resources import embedded_bilm
from elmo_tasks.settings import PathLike, Settings, Wrong, as_json

BILM, TRANSFORMER, MANYLANGS = "bilm", "transformer", "manylangs"

EMBEDDED = "embedded:"
"""Begins the names of the embedded biLM's files, which are at another path in another installation."""


class LayerSource(Protocol):
    """
    An `nn.Module` that computes layers from character ids: `BiLM`, `Transformer` or one of your own.

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

    def __call__(self, character_ids: Tensor, /) -> LayerOutput:
        """The layers [L+1, B, T, D] and the mask [B, T] of words with ids [B, T, C]; zero for padding."""
        ...

    def parameters(self) -> Iterator[nn.Parameter]: ...

    def to(self, device: Any, /) -> Self: ...

    def eval(self) -> Self: ...

    def requires_grad_(self, requires_grad: bool, /) -> Self: ...


@dataclass(frozen=True)
class SourceType:
    """A value of `model.elmo.source`."""

    label: str  # its name in messages and tables
    files: Mapping[
        str, str
    ]  # the keys of its files, among `FILE_KEYS`, and what each file is
    load: Callable[
        ..., LayerSource
    ]  # called with the local paths of the files, and with the values of `options`
    options: tuple[
        str, ...
    ] = ()  # which of `state`, `precision` and `pieces` it has; others must have their defaults


def _open_bilm(
    options_file: Path, weight_file: Path, *, state: str, precision: str
) -> BiLM:
    bilm = BiLM.from_files(options_file, weight_file, precision=precision, packed=True)
    bilm.state = state
    return bilm


SOURCES: dict[str, SourceType] = {
    BILM: SourceType(
        "biLM",
        {"options_file": "the biLM's options", "weight_file": "the biLM's weights"},
        _open_bilm,
        options=("state", "precision"),
    ),
    TRANSFORMER: SourceType(
        "transformer",
        {"model": "the transformer's files"},
        Transformer,
        options=("precision", "pieces"),
    ),
    MANYLANGS: SourceType(
        "ELMoForManyLangs", {"model": "the files of ELMoForManyLangs"}, open_manylangs
    ),
}
FILE_KEYS = ("options_file", "weight_file", "model")


def _is_source(name: object) -> str | None:
    return None if name in SOURCES else f"one of {', '.join(SOURCES)}"


@dataclass(frozen=True, kw_only=True)
class SourceSettings(Settings):
    """
    Where frozen layers come from, and how they are computed. Without both files of a biLM, it is the embedded one; a
    whole model, such as a folder or a ZIP, is given as `weight_file` alone.

    With `state: carry` each row of a batch starts from the last state of that row of the previous batch; these states
    are in the checkpoints of trainer `elmo_tasks`, but in no archive.
    """

    source: Annotated[
        str, _is_source, "`bilm`, `transformer`, `manylangs` or one of your own"
    ] = BILM
    options_file: Annotated[Optional[PathLike], "the biLM's options, path or URL"] = (
        None
    )
    weight_file: Annotated[
        Optional[PathLike],
        "the weights of the biLM, path or URL; or a whole biLM: name, folder, ZIP",
    ] = None
    model: Annotated[
        Optional[PathLike],
        "a transformer: folder or model of the Hugging Face hub; ELMoForManyLangs: folder or ZIP",
    ] = None
    pieces: Annotated[
        Literal["mean", "first", "last"],
        "which vectors of a word's pieces the transformer gives",
    ] = "mean"
    state: Annotated[
        Literal["reset", "carry"],
        "whether each sentence starts from zero states, or from the last (bilm-tf)",
    ] = "reset"
    precision: Annotated[
        Literal["float32", "bfloat16"],
        "of the biLM's matrix products; a transformer computes in it",
    ] = "float32"
    archive: Annotated[
        bool,
        "put the files of the biLM or transformer into each checkpoint and archive",
    ] = False

    def conflicts(self) -> Iterator[Wrong]:
        source, of_source = SOURCES[self.source], f"where source is {self.source}"
        for key in ("state", "precision", "pieces"):
            default = type(self).__dataclass_fields__[key].default
            if key not in source.options and getattr(self, key) != default:
                yield Wrong(key, f"{as_json(default)} {of_source}", getattr(self, key))
        embedded = (
            self.source == BILM
            and self.options_file is None
            and self.weight_file is None
        )
        is_whole = (
            self.source == BILM
            and self.weight_file is not None
            and is_whole_model(self.weight_file)
        )
        if is_whole and self.options_file not in (None, self.weight_file):
            yield Wrong(
                "options_file",
                "null where weight_file is a whole model",
                self.options_file,
            )
        for key in () if embedded or is_whole else source.files:
            if getattr(self, key) is None:
                expected = (
                    "a folder or the name of a model"
                    if key == "model"
                    else "a path or URL"
                )
                if key == "options_file":
                    expected += f" with the weights {self.weight_file}, which are no folder, ZIP, name or hf://OWNER/NAME"
                yield Wrong(key, expected, None)
        # A biLM's files, which all configs have, are ignored.
        if "model" not in source.files and self.model is not None:
            yield Wrong("model", f"null {of_source}", self.model)

    def given(self) -> dict[str, str]:
        """The paths, URLs or name of the source's files, by their keys; the embedded biLM's if there are none."""
        files = SOURCES[self.source].files
        paths = {
            key: os.fspath(path)
            for key in files
            if (path := getattr(self, key)) is not None
        }
        if self.source == BILM and paths.keys() == {"weight_file"}:
            return dict.fromkeys(files, paths["weight_file"])
        embedded = dict(
            zip(
                files,
                (f"{EMBEDDED}{path.name}" for path in embedded_bilm()),
                strict=False,
            )
        )
        return paths or embedded


_Load = TypeVar("_Load", bound=Callable[..., Any])


def register_source(
    name: str, *, files: Mapping[str, str], options: tuple[str, ...] = ()
) -> Callable[[_Load], _Load]:
    """
    Make a class or function the source `name`: `model.elmo.source: NAME` calls it with the paths of its files, of which
    `files` says what each is, by one or two of the keys `options_file`, `weight_file` and `model`. It gets the keys
    `options`, some of `state`, `precision` and `pieces`, as keywords. Raises `InputError` if the name is taken, or a
    key of a file is unknown.
    """
    if name in SOURCES:
        raise InputError(
            f"layer source {name}: expected a new name, known are {', '.join(SOURCES)}"
        )
    if len(files) not in (1, 2) or not files.keys() <= set(FILE_KEYS):
        problem = f"expected one or two of the files {', '.join(FILE_KEYS)}, got {', '.join(files) or 'none'}"
        raise InputError(f"layer source {name}: {problem}")

    def register(load: _Load) -> _Load:
        SOURCES[name] = SourceType(name, dict(files), load, options)
        return load

    return register
