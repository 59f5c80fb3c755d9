"""The sizes of a biLM, as `options.json` gives them."""

import json
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

from elmo_tasks.bilm.characters import CHARACTERS, MAX_CHARACTERS
from elmo_tasks.errors import InputError

ACTIVATIONS = ("relu", "tanh")

_LARGEST = 2**20
"""Bytes of a file of options at most."""

_MOST = 100
"""Layers of a kind, and convolutions, at most: each takes memory however narrow it is."""


@dataclass(frozen=True, kw_only=True)
class BiLMOptions:
    """
    The architecture of a biLM (paper, section 3.4; defaults are the paper's).

    # Parameters

    filters : `tuple[tuple[int, int], ...]`
        The character convolutions: pairs of width in characters and number of filters.
    character_dim : `int`
        Width of a character embedding.
    activation : `str`
        After the max-pool over characters: `relu` or `tanh`.
    n_highway : `int`
        Highway layers after the convolutions, 0 to 100.
    dim, projection_dim : `int`
        LSTM units and the width of the projected output, per direction (P; a layer's vector has 2P).
    n_layers : `int`
        LSTM layers per direction (L), at most 100.
    cell_clip, proj_clip : `float` or `None`
        Bounds of the cell and of the projected output; `None` or 0 leaves them free.
    use_skip_connections : `bool`
        Whether layers after the first add their input to their output.
    """

    filters: tuple[tuple[int, int], ...] = (
        (1, 32), (2, 32), (3, 64), (4, 128), (5, 256), (6, 512), (7, 1024),
    )  # fmt: skip
    character_dim: int = 16
    activation: str = "relu"
    n_highway: int = 2
    dim: int = 4096
    projection_dim: int = 512
    n_layers: int = 2
    cell_clip: float | None = 3.0
    proj_clip: float | None = 3.0
    use_skip_connections: bool = True

    def __post_init__(self) -> None:
        problems = list(self._problems())
        if problems:
            raise InputError("biLM options: " + "; ".join(problems))

    @property
    def n_parameters(self) -> int:
        """Numbers of a biLM of these options, without the softmax."""
        width = sum(count for _, count in self.filters)
        convolutions = sum(count * (size * self.character_dim + 1) for size, count in self.filters)
        highways = self.n_highway * 2 * (width + 1) * width
        layer = 4 * self.dim * (2 * self.projection_dim + 1) + self.projection_dim * self.dim
        projection = self.projection_dim * (width + 1)
        return CHARACTERS * self.character_dim + convolutions + highways + projection + 2 * self.n_layers * layer

    def _problems(self) -> Any:
        for name in ("character_dim", "dim", "projection_dim"):
            value = getattr(self, name)
            if not _is_count(value) or value < 1:
                yield f"{name} must be a whole number of at least 1, found {value!r}"
        for name, least in (("n_layers", 1), ("n_highway", 0)):
            value = getattr(self, name)
            if not _is_count(value) or not least <= value <= _MOST:
                yield f"{name} must be a whole number from {least} to {_MOST}, found {value!r}"
        if not isinstance(self.use_skip_connections, bool):
            yield f"use_skip_connections must be true or false, found {self.use_skip_connections!r}"
        if self.activation not in ACTIVATIONS:
            yield f"activation must be one of {', '.join(ACTIVATIONS)}, found {self.activation!r}"
        for name in ("cell_clip", "proj_clip"):
            value = getattr(self, name)
            if value is not None and (
                isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < inf
            ):
                yield f"{name} must be null or a finite number of at least 0, found {value!r}"
        if not 1 <= len(self.filters) <= _MOST:
            yield f"filters must name from 1 to {_MOST} [width, count], found {len(self.filters):,}"
        for pair in self.filters:
            if len(pair) != 2 or not all(_is_count(n) and n > 0 for n in pair) or pair[0] > MAX_CHARACTERS:
                yield f"a filter must be [width up to {MAX_CHARACTERS}, count], found {list(pair)!r}"

    @classmethod
    def from_dict(cls, options: dict[str, Any]) -> "BiLMOptions":
        """
        Read the structure of an official `options.json`.

        `char_cnn.n_characters` is not asked for: 261 and 262 name the same characters with and without the
        padding row. Keys that only training uses are passed over.

        # Raises

        `InputError` naming every missing or impossible value.
        """
        lstm, char_cnn = _section(options, "lstm"), _section(options, "char_cnn")
        characters = char_cnn.get("n_characters", CHARACTERS)
        if characters not in (CHARACTERS, CHARACTERS + 1):
            raise InputError(f"char_cnn.n_characters must be {CHARACTERS} or {CHARACTERS + 1}, found {characters!r}")
        slots = char_cnn.get("max_characters_per_token", MAX_CHARACTERS)
        if slots != MAX_CHARACTERS:
            raise InputError(f"char_cnn.max_characters_per_token must be {MAX_CHARACTERS}, found {slots!r}")
        missing = [f"lstm.{key}" for key in ("dim", "projection_dim", "n_layers") if key not in lstm]
        missing += [f"char_cnn.{key}" for key in ("embedding", "filters") if key not in char_cnn]
        if missing:
            raise InputError(f"options lack {', '.join(missing)}")
        return cls(
            filters=_filters(char_cnn["filters"]),
            character_dim=_section(char_cnn, "embedding").get("dim", 0),
            activation=char_cnn.get("activation", "relu"),
            n_highway=char_cnn.get("n_highway") or 0,
            dim=lstm["dim"],
            projection_dim=lstm["projection_dim"],
            n_layers=lstm["n_layers"],
            cell_clip=lstm.get("cell_clip"),
            proj_clip=lstm.get("proj_clip"),
            use_skip_connections=lstm.get("use_skip_connections") or False,
        )

    @classmethod
    def from_file(cls, path: str | Path) -> "BiLMOptions":
        """
        Read an official `options.json`.

        # Raises

        `InputError` where the file cannot be read, is not JSON, or lacks a value; the message names the file.
        """
        try:
            if (size := Path(path).stat().st_size) > _LARGEST:
                raise InputError(f"the biLM's options were wanted, found {size:,} bytes", file=path)
            text = Path(path).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"cannot read the biLM's options: {error}", file=path) from None
        try:
            return cls.from_dict(json.loads(text))
        except InputError as error:
            raise InputError(str(error), file=path) from None
        except (ValueError, RecursionError) as error:  # besides bad JSON, giant numbers and deep brackets
            problem, line = getattr(error, "msg", error), getattr(error, "lineno", None)
            raise InputError(f"not JSON: {problem}", file=path, line=line) from None

    def to_dict(self) -> dict[str, Any]:
        """The structure of `options.json`; `n_characters` is 262, as AllenNLP and bilm-tf want it for embedding."""
        return {
            "lstm": {
                "use_skip_connections": self.use_skip_connections,
                "projection_dim": self.projection_dim,
                "cell_clip": self.cell_clip,
                "proj_clip": self.proj_clip,
                "dim": self.dim,
                "n_layers": self.n_layers,
            },
            "char_cnn": {
                "activation": self.activation,
                "embedding": {"dim": self.character_dim},
                "filters": [list(pair) for pair in self.filters],
                "max_characters_per_token": MAX_CHARACTERS,
                "n_characters": CHARACTERS + 1,
                "n_highway": self.n_highway,
            },
        }


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _section(options: Any, name: str) -> dict[str, Any]:
    section = options.get(name) if isinstance(options, dict) else None
    if not isinstance(section, dict):
        raise InputError(f"options must have an object {name!r}, found {section!r}")
    return section


def _filters(value: Any) -> tuple[tuple[int, int], ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(pair, list | tuple) for pair in value):
        raise InputError(f"char_cnn.filters must be a list of [width, count], found {value!r}")
    return tuple(tuple(pair) for pair in value)
