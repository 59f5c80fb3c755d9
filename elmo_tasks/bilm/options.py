"""
What `options.json` says of a biLM: its sizes, and which biLMs it was tuned from. Their
texts and terms also hold for its weights, so each copy and each further tuning names
them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Optional

from pydantic import Field

from elmo_tasks.bilm.characters import (
    CHARACTERS,
    LEAST_CHARACTERS,
    MAX_CHARACTERS,
    MOST_CHARACTERS,
)
from elmo_tasks.errors import InputError
from elmo_tasks.formats.json_files import read_json
from elmo_tasks.settings import (
    DEEPEST,
    AsTuple,
    Depth,
    Factor,
    Integer,
    Settings,
    Text,
    Width,
    Wrong,
    WrongValues,
    checked,
    require_none,
    wrong_in,
)

_Clip = Optional[Factor]


Filter = Annotated[tuple[Width, Width], AsTuple]
"""The width of a convolution, and the number of filters."""


@checked
@dataclass(frozen=True, kw_only=True)
class BiLMOptions(Settings):
    """
    The architecture of a biLM (paper, section 3.4; defaults are the paper's).

    # Parameters

    - `filters`: the character convolutions: a list of pairs, the width in characters and
      the number of filters.
    - `character_dim`: size of a character embedding.
    - `activation`: activation after the max-pooling over characters.
    - `n_highway`: number of highway layers after the convolutions.
    - `dim`: LSTM units per direction.
    - `projection_dim`: width of the projected output per direction (P); the vector of a
      layer has 2P elements.
    - `n_layers`: LSTM layers per direction (L).
    - `cell_clip`: largest absolute value of the cell state; null or 0: no clipping.
    - `proj_clip`: largest absolute value of the projected output; null or 0: no
      clipping.
    - `use_skip_connections`: if true, each layer after the first adds its input to its
      output.
    - `max_characters_per_token`: number of bytes read from a word, plus 2 for its start
      and end. AllenNLP's own loader and the weights of bilm-tf have 50.
    """

    filters: Annotated[
        tuple[Filter, ...], AsTuple, Field(min_length=1, max_length=DEEPEST)
    ] = (
        (1, 32), (2, 32), (3, 64), (4, 128), (5, 256), (6, 512), (7, 1024),
    )  # fmt: skip
    character_dim: Width = 16
    activation: Literal["relu", "tanh"] = "relu"
    n_highway: Annotated[Integer, Field(ge=0, le=DEEPEST)] = 2
    dim: Width = 4096
    projection_dim: Width = 512
    n_layers: Depth = 2
    cell_clip: _Clip = 3.0
    proj_clip: _Clip = 3.0
    use_skip_connections: bool = True
    max_characters_per_token: Annotated[
        Integer, Field(ge=LEAST_CHARACTERS, le=MOST_CHARACTERS)
    ] = MAX_CHARACTERS

    @property
    def n_parameters(self) -> int:
        """Number of parameters without the softmax."""
        width = 0
        convolutions = 0
        for size, count in self.filters:
            width += count
            convolutions += count * (size * self.character_dim + 1)
        highways = self.n_highway * 2 * (width + 1) * width
        layer = (
            4 * self.dim * (2 * self.projection_dim + 1)
            + self.projection_dim * self.dim
        )
        projection = self.projection_dim * (width + 1)
        return (
            CHARACTERS * self.character_dim
            + convolutions
            + highways
            + projection
            + 2 * self.n_layers * layer
        )

    def conflicts(self) -> Iterator[Wrong]:
        for width, count in self.filters:
            if width > self.max_characters_per_token:
                expected = f"[width up to max_characters_per_token, {self.max_characters_per_token}, count]"
                yield Wrong("filters", expected, [width, count])

    @classmethod
    def from_dict(cls, options: dict[str, Any], *, prefix: str = "") -> "BiLMOptions":
        """
        Create options from the content of an `options.json`. Raises `InputError`, which
        begins with `prefix`, listing all invalid values by their keys in it. Unknown
        keys below `lstm` and `char_cnn` are invalid; others are ignored.
        """
        values, problems = _values(options, prefix)
        for wrong in wrong_in(cls, values):
            field, *parts = wrong.key.split(".")
            problems.append(wrong._replace(key=".".join([KEYS[field], *parts])))
        problems += _unknown(options)
        require_none(problems, prefix)
        return cls(**values)

    @classmethod
    def from_file(cls, path: str | Path) -> "BiLMOptions":
        """
        Read an official `options.json`. Raises `InputError` naming the file and every
        missing or invalid value.
        """
        found = read_json(path, "the biLM's options")
        try:
            return cls.from_dict(found)
        except InputError as error:
            raise InputError(str(error), file=path) from None

    def to_dict(self) -> dict[str, Any]:
        """
        The content of an `options.json`, with 262 for `n_characters`, as AllenNLP and
        bilm-tf expect.
        """
        lstm = (
            "use_skip_connections",
            "projection_dim",
            "cell_clip",
            "proj_clip",
            "dim",
            "n_layers",
        )
        return {
            "lstm": {name: getattr(self, name) for name in lstm},
            "char_cnn": {
                "activation": self.activation,
                "embedding": {"dim": self.character_dim},
                "filters": [list(pair) for pair in self.filters],
                "max_characters_per_token": self.max_characters_per_token,
                "n_characters": CHARACTERS + 1,
                "n_highway": self.n_highway,
            },
        }


KEYS = {
    "filters": "char_cnn.filters",
    "character_dim": "char_cnn.embedding.dim",
    "activation": "char_cnn.activation",
    "max_characters_per_token": "char_cnn.max_characters_per_token",
    "n_highway": "char_cnn.n_highway",
    "use_skip_connections": "lstm.use_skip_connections",
    "dim": "lstm.dim",
    "projection_dim": "lstm.projection_dim",
    "n_layers": "lstm.n_layers",
    "cell_clip": "lstm.cell_clip",
    "proj_clip": "lstm.proj_clip",
}
"""Where each field is in `options.json`."""


_IGNORED = ("char_cnn.n_characters", "char_cnn.embedding")
"""Other keys below `lstm` and `char_cnn`."""

_ABSENT = {
    "n_highway": 0,
    "use_skip_connections": False,
    "activation": "relu",
    "max_characters_per_token": MAX_CHARACTERS,
}
"""What a file means that does not have a key."""


def _values(options: dict[str, Any], prefix: str) -> tuple[dict[str, Any], list[Wrong]]:
    """
    The fields in the content of an `options.json`, and whether it has other characters
    than those of biLMs. Raises `InputError` if it has another structure.
    """
    values = {}
    try:
        for field, key in KEYS.items():
            part: Any = options
            for name in key.split(".")[:-1]:
                part = part[name]
            value = part.get(key.rpartition(".")[2])
            values[field] = _ABSENT.get(field) if value is None else value
        count = options["char_cnn"].get("n_characters", CHARACTERS)
    except (AttributeError, KeyError, TypeError):
        expected = "lstm and char_cnn with filters and embedding.dim"
        raise WrongValues([Wrong("", expected, options)], prefix) from None
    if count in (CHARACTERS, CHARACTERS + 1):  # and the padding row
        return values, []
    expected = f"{CHARACTERS} or {CHARACTERS + 1}"
    return values, [Wrong("char_cnn.n_characters", expected, count)]


def _unknown(options: dict[str, Any]) -> Iterator[Wrong]:
    """The keys below `lstm` and `char_cnn` that no `options.json` has."""
    known = [*KEYS.values(), *_IGNORED]
    for part in ("lstm", "char_cnn"):
        for name in options[part]:
            key = f"{part}.{name}"
            if key not in known:
                yield Wrong(key, f"one of the keys {', '.join(known)}", name)


TUNED_FROM = "tuned_from"
"""The key in `options.json`, which other loaders ignore."""


@checked
@dataclass(frozen=True, kw_only=True)
class Ancestor(Settings):
    """
    A biLM from which another one was tuned, as far as its files say.

    # Parameters

    - `name`: what the training called it.
    - `sha256`: of its weights.
    - `text`: what it was trained on.
    - `licence`: the terms of its use.
    """

    name: Text
    sha256: Optional[Text] = None
    text: Optional[Text] = None
    licence: Optional[Text] = None


Ancestry = tuple[Ancestor, ...]
"""The biLM from which another one was tuned, then the one from which that was, ..."""


def ancestry_to_json(ancestry: Ancestry) -> list[dict[str, str]]:
    """A list with an object for each, of what is known."""
    written = []
    for ancestor in ancestry:
        written.append({key: value for key, value in asdict(ancestor).items() if value})
    return written


def ancestry_of_json(values: Sequence[Any], file: Path) -> Ancestry:
    """From that list. Raises `InputError`, which names the file, if it is another."""
    try:
        return tuple([Ancestor.of(one) for one in values])
    except (InputError, TypeError, AttributeError) as error:
        problem = "expected ancestors, each with a name"
        raise InputError(f"{problem}: {error}", file=file) from None


def read_ancestry(options_file: str | Path) -> Ancestry:
    """That of a biLM with this valid `options.json`; empty without the key."""
    found = read_json(options_file, "the biLM's options")
    return ancestry_of_json(found.get(TUNED_FROM, []), Path(options_file))
