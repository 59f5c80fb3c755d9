"""
The sources of layers: the biLM, transformers, ELMoForManyLangs, CoVe, and those that
other packages register.
"""

import inspect
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import (
    Annotated,
    Any,
    Literal,
    Optional,
    Protocol,
    Self,
    TypeVar,
)

import torch
from pydantic import AfterValidator
from torch import Tensor, nn

from elmo_tasks.bilm.bilm import BiLM, LayerOutput
from elmo_tasks.elmo.sources import manylangs, transformer_files
from elmo_tasks.elmo.sources.cove import CoVe
from elmo_tasks.elmo.sources.manylangs import open_manylangs
from elmo_tasks.elmo.sources.transformer import Transformer
from elmo_tasks.errors import InputError
from elmo_tasks.formats import bilm_files
from elmo_tasks.option_values import InferencePrecision, Pieces
from elmo_tasks.settings import PathLike, Settings, Wrong, as_json, checked
from elmo_tasks.system.files import file_sha256
from elmo_tasks.system.run_names import CARD_FILE, VOCABULARY_FILE

BILM = "bilm"
TRANSFORMER = "transformer"
MANYLANGS = "manylangs"
COVE = "cove"

FILE_KEYS = ("options_file", "vectors_file", "weight_file", "model")
"""The keys of a source's files in the config."""

_OPTIONS = ("state", "precision", "pieces")
"""The keys that only some sources have."""


class LayerSource(Protocol):
    """
    An `nn.Module` that computes layers from character ids: `BiLM`, `Transformer` or one
    of your own.

    `n_layers` is L+1, `output_dim` the width D, and `dtype` the data type of the
    layers. `state` is `reset` if a sentence's layers do not depend on other sentences,
    else `carry`. The layer cache stores layers of different `precision` separately.
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
        """
        The layers [L+1, B, T, D] and the mask [B, T] of words with ids [B, T, C]; zero
        for padding.
        """
        ...

    def parameters(self) -> Iterator[nn.Parameter]: ...

    def to(self, device: Any, /) -> Self: ...

    def eval(self) -> Self: ...

    def requires_grad_(self, requires_grad: bool, /) -> Self: ...


def _in_no_folder(names: Collection[str], config: Mapping[str, Any]) -> bool:
    return False


@dataclass(frozen=True)
class SourceType:
    """
    A kind of source: a value of `model.elmo.source`. All that is particular to a kind
    is here; what opens, digests, copies and caches models asks this record.

    - `label`: its name in messages and tables.
    - `files`: the keys of its files, among `FILE_KEYS`, and what each file is.
    - `load`: called with the local paths of the files, and with the values of
      `options`.
    - `options`: which of `state`, `precision` and `pieces` it has; others must have
      their defaults. One with `pieces` has an attribute of
      this name, by which the layer cache tells its layers apart.
    - `patterns`: of the names of the files in a folder that `load` may read; without
      any, all files may be read, also those below.
    - `is_in`: whether a folder with files of these names, and this `config.json`, has
      such a model.
    - `ends`: regular expressions of the ends of two files that name a model together.
    - `hint`: which files it has, for errors.
    """

    label: str
    files: Mapping[str, str]
    load: Callable[..., LayerSource]
    options: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    is_in: Callable[[Collection[str], Mapping[str, Any]], bool] = _in_no_folder
    ends: tuple[str, ...] = ()
    hint: str = ""

    @property
    def is_ours(self) -> bool:
        """Whether it is of this package, so that a name may mean such a model."""
        return self.load.__module__.startswith("elmo_tasks.")

    @property
    def code_sha256(self) -> str | None:
        """Of the module of a source of one's own; `None` for those of this package."""
        if self.is_ours:
            return None
        return file_sha256(inspect.getfile(inspect.unwrap(self.load)))


def _open_bilm(
    options_file: Path, weight_file: Path, *, state: str, precision: InferencePrecision
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
        patterns=(*bilm_files.PATTERNS, CARD_FILE, VOCABULARY_FILE),
        is_in=bilm_files.is_in,
        ends=(r"\.json$", r"\.(hdf5|h5|safetensors)$"),
        hint="options.json and weights.hdf5, or config.json and model.safetensors",
    ),
    TRANSFORMER: SourceType(
        "transformer",
        {"model": "the transformer's files"},
        Transformer,
        options=("precision", "pieces"),
        patterns=transformer_files.PATTERNS,
        is_in=transformer_files.is_in,
        hint=transformer_files.HINT,
    ),
    MANYLANGS: SourceType(
        "ELMoForManyLangs",
        {"model": "the files of ELMoForManyLangs"},
        open_manylangs,
        patterns=manylangs.PATTERNS,
        is_in=manylangs.is_in,
        hint="encoder.pkl and token_embedder.pkl",
    ),
    COVE: SourceType(
        "CoVe",
        {"vectors_file": "CoVe's word vectors", "weight_file": "CoVe's weights"},
        CoVe.from_files,
        ends=(r"\.(txt|vec)$", r"\.(pth|pt)$"),
        hint="VECTORS.txt+WEIGHTS.pth",
    ),
}


def _is_source(name: str) -> str:
    if name not in SOURCES:
        raise ValueError(f"one of {', '.join(SOURCES)}")
    return name


@checked
@dataclass(frozen=True, kw_only=True)
class SourceSettings(Settings):
    """
    Where frozen layers come from, and how they are computed. The source is `model`, or
    else the biLM in `options_file` and `weight_file`, or else the bundled biLM.
    `source` overrides the kind of model, which is otherwise inferred.

    With `state: carry`, each row of a batch starts from the final state of the same row
    in the previous batch. The trainer `elmo_tasks` saves these states in its
    checkpoints; archives do not contain them.
    """

    source: Annotated[
        Optional[Annotated[str, AfterValidator(_is_source)]],
        "kind of model: `bilm`, `transformer`, `manylangs`, `cove`, or a source that you"
        " have registered; null: inferred from the model",
    ] = None
    model: Annotated[
        Optional[PathLike],
        "a biLM, a transformer or ELMoForManyLangs: name, folder, ZIP, URL,"
        " `hf://OWNER/NAME` or `OPTIONS.json+WEIGHTS.hdf5`; or CoVe:"
        " `VECTORS.txt+WEIGHTS.pth`; overrides `options_file`, `vectors_file` and"
        " `weight_file`; null with none of them: the bundled biLM",
    ] = None
    options_file: Annotated[Optional[PathLike], "path or URL of the biLM's options"] = (
        None
    )
    weight_file: Annotated[
        Optional[PathLike], "path or URL of the biLM's weights, or of CoVe's"
    ] = None
    vectors_file: Annotated[
        Optional[PathLike], "path of CoVe's word vectors: GloVe 840B, not compressed"
    ] = None
    pieces: Pieces = "mean"
    state: Annotated[
        Literal["reset", "carry"],
        "the biLM's initial state for a sentence: zero (`reset`), or the last state of"
        " the previous batch, as in bilm-tf (`carry`)",
    ] = "reset"
    precision: Annotated[
        InferencePrecision,
        "data type of the biLM's matrix products, or of the whole transformer, which has"
        " no `int8`",
    ] = "float32"
    archive: Annotated[
        bool,
        "store the model's files in the folder of the run and in its archive",
    ] = False
    offline: Annotated[bool, "use only what is on this machine: download nothing"] = (
        False
    )

    @property
    def kind(self) -> str | None:
        """The kind of source; `None` if only opening the model shows it."""
        if self.source is None and self.model is None:
            return BILM
        return self.source

    def conflicts(self) -> Iterator[Wrong]:
        if self.kind is None:
            return
        source = SOURCES[self.kind]
        of_source = f"where source is {self.kind}"
        taken = {*source.options, *source.files}
        if self.kind in (BILM, COVE):
            taken.add("model")
        # A biLM's files, which all configs have, are ignored.
        for key in (*_OPTIONS, "model", "vectors_file"):
            default = type(self).__dataclass_fields__[key].default
            value = getattr(self, key)
            if key not in taken and value != default:
                yield Wrong(key, f"{as_json(default)} {of_source}", value)
        if self.kind == TRANSFORMER and self.precision == "int8":
            yield Wrong("precision", f"float32 or bfloat16 {of_source}", "int8")
        yield from self._wrong_files(self.kind)
        if self.kind == COVE and self.archive:
            too_large = f"false {of_source}, whose word vectors are too large"
            yield Wrong("archive", too_large, True)

    def _wrong_files(self, kind: str) -> Iterator[Wrong]:
        """The source's files that are missing."""
        if kind in (BILM, COVE) and self.model is not None:
            return
        if kind == BILM and self.options_file is None and self.weight_file is None:
            return  # the bundled biLM
        for key in SOURCES[kind].files:
            if getattr(self, key) is None:
                expected = "a path or URL"
                if key == "model":
                    expected = "a folder or the name of a model"
                yield Wrong(key, expected, None)

    def file_names(self) -> dict[str, str]:
        """The paths or URLs of the files that are given one by one, by their keys."""
        names = {}
        for key in SOURCES[self.kind or BILM].files:
            name = getattr(self, key)
            if name is not None:
                names[key] = os.fspath(name)
        return names

    def of_kind(self, kind: str) -> "SourceSettings":
        """
        The settings of a model whose kind is known. Raises `InputError` if a setting
        does not fit the kind.
        """
        if self.source == kind or self.model is None:
            return self
        return replace(
            self, source=kind, options_file=None, weight_file=None, vectors_file=None
        )


_Load = TypeVar("_Load", bound=Callable[..., Any])


def register_source(
    name: str,
    *,
    files: Mapping[str, str],
    options: tuple[str, ...] = (),
    patterns: tuple[str, ...] = (),
) -> Callable[[_Load], _Load]:
    """
    Decorate a class or function to register it as the source `name`, which a config
    selects by `model.elmo.source`.

    It is called with the paths of its files. `files` describes each file, by one or two
    of the keys `options_file`, `vectors_file`, `weight_file` and `model`; errors use
    the description.
    `options` names the keys of `model.elmo` that it takes as keyword arguments:
    `state`, `precision` or `pieces`. `patterns` are those of `SourceType`.

    Raises `InputError` if the name is taken.
    """
    if name in SOURCES:
        raise InputError(
            f"layer source {name}: expected a new name, known are {', '.join(SOURCES)}"
        )

    def register(load: _Load) -> _Load:
        SOURCES[name] = SourceType(name, dict(files), load, options, patterns)
        return load

    return register
