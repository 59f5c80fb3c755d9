"""The keys of `model.elmo` and their values, as far as they can be checked without the files."""

import os
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from elmo_tasks.elmo.scalar_mix import MIXES, WEIGHTED, choices, is_mix
from elmo_tasks.elmo.source_types import BILM, COVE, FILE_KEYS, SOURCES, TRANSFORMER
from elmo_tasks.errors import InputError

REGISTERED_AS = "elmo_tasks"

_DEFAULTS: dict[str, Any] = {
    "archive": False,
    "state": "reset",
    "precision": "float32",
    "pieces": "mean",
    "local_files_only": False,
}
"""The only values of these keys with a source that does not have them."""

Problem = tuple[str, str, object]
"""A key of the config, what is expected, and its value."""


def _check_mix(mix: str) -> str:
    if not is_mix(mix):
        raise ValueError(f"one of {choices(MIXES)}")
    return mix


def _check_source(source: str) -> str:
    if source not in SOURCES:
        raise ValueError(f"one of {', '.join(SOURCES)}")
    return source


class ElmoConfig(BaseModel):
    """The keys of `ElmoTokenEmbedder`, which describes them."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False)

    type: Literal["elmo_tasks"] = "elmo_tasks"
    options_file: str | None = None
    weight_file: str | None = None
    at: Literal["input", "output", "both"] = "input"
    mix: Annotated[str, AfterValidator(_check_mix)] = WEIGHTED
    l2: Annotated[float, Field(ge=0)] | None = None
    layer_norm: Literal[False, "sentence", "batch"] = False
    gamma: bool = True
    dropout: Annotated[float, Field(ge=0, lt=1)] = 0.0
    state: Literal["reset", "carry"] = "reset"
    precision: Literal["float32", "bfloat16", "int8"] = "float32"
    cache_dir: Annotated[str, Field(min_length=1)] | None = None
    cache_limit_gb: Annotated[float, Field(gt=0)] | None = None
    archive: bool = False
    source: Annotated[str, AfterValidator(_check_source)] = BILM
    vectors_file: str | None = None
    model: str | None = None
    pieces: Literal["mean", "first", "last"] = "mean"
    local_files_only: bool = False

    def conflicts(self) -> Iterator[Problem]:
        """The values that do not go with others."""
        source, of_source = SOURCES[self.source], f"where source is {self.source}"
        has = {"archive": source.archives, "local_files_only": "model" in source.files}
        for key, value in _DEFAULTS.items():
            if not has.get(key, key in source.options) and getattr(self, key) != value:
                yield key, f"{choices([value])} {of_source}", getattr(self, key)
        embedded = self.source == BILM and self.options_file is None and self.weight_file is None
        for key in () if embedded else source.files:
            if getattr(self, key) is None:
                yield key, "a folder or the name of a model" if key == "model" else "a path or URL", None
        for key in FILE_KEYS:
            # A biLM's files, which every config with ELMo has, are ignored; not so with CoVe, which has one of them.
            is_ignored = key == "weight_file" or (key == "options_file" and self.source != COVE)
            if key not in source.files and not is_ignored and getattr(self, key) is not None:
                yield key, f"null {of_source}", getattr(self, key)
        if self.source == TRANSFORMER and self.precision == "int8":
            yield "precision", f"float32 or bfloat16 {of_source}", self.precision
        if self.l2 and self.mix != WEIGHTED:
            yield "l2", f"null where mix is {self.mix}, which has no weights to penalise", self.l2
        for key, value in (("state", "carry"), ("layer_norm", "batch")):
            if self.cache_dir is not None and getattr(self, key) == value:
                expected = f"null where {key} is {value}: vectors then depend on other sentences"
                yield "cache_dir", expected, self.cache_dir


def config_problems(config: Mapping[str, Any]) -> list[Problem]:
    """All invalid values of a config, unknown keys aside."""
    values = {key: os.fspath(value) if isinstance(value, os.PathLike) else value for key, value in config.items()}
    problems = []
    try:
        ElmoConfig.model_validate(values)
    except ValidationError as error:
        problems = [_problem(details) for details in error.errors()]
    invalid = {key for key, _, _ in problems}
    valid = {key: value for key, value in values.items() if key not in invalid}
    conflicts = () if "source" in invalid else ElmoConfig.model_construct(**valid).conflicts()
    return problems + [problem for problem in conflicts if problem[0] not in invalid]


def check_config(config: Mapping[str, Any]) -> None:
    """
    Raises `InputError` listing all unknown keys and invalid values of a config.
    """
    known = ", ".join(ElmoConfig.model_fields)
    problems = [f"unknown key {key!r}, known are {known}" for key in config if key not in ElmoConfig.model_fields]
    problems += [f"{key}: expected {expected}, got {value!r}" for key, expected, value in config_problems(config)]
    if problems:
        raise InputError("elmo: " + "; ".join(problems))


def _problem(details: ErrorDetails) -> Problem:
    expected = details["msg"].removeprefix("Input should be ").removeprefix("Value error, ")
    if details["type"] == "literal_error":
        expected = "one of " + expected.replace(" or ", ", ").replace("'", "").replace("False", "false")
    return str(details["loc"][0]), expected, details["input"]
