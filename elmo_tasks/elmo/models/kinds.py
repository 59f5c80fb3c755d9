"""What kind of model a name, or the files of a folder, mean. Nothing is run or fetched."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elmo_tasks.elmo.sources.manylangs import ENCODER, WEIGHTS
from elmo_tasks.elmo.sources.transformer_files import PICKLES, SAFETENSORS
from elmo_tasks.elmo.sources.types import BILM, COVE, MANYLANGS, SOURCES, TRANSFORMER
from elmo_tasks.errors import InputError
from elmo_tasks.formats.bilm_files import NAMES, is_bilm_config
from elmo_tasks.formats.fetching.fetch import fits_any
from elmo_tasks.formats.fetching.published import nearest_model
from elmo_tasks.formats.json_files import read_json
from elmo_tasks.option_values import MODEL_FORMS
from elmo_tasks.system.run_names import (
    ARCHIVE,
    BEST,
    CONFIG,
    META,
    OPTIONS_FILE,
)

_HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+")


@dataclass(frozen=True)
class TwoFiles:
    """
    A kind whose models may be named by their two files, `FIRST+SECOND`: the keys of the
    files, each with the end of its name, and what errors call them.
    """

    kind: str
    ends: Mapping[str, str]
    what: str


BILM_FILES = TwoFiles(
    BILM,
    {"options_file": r"\.json$", "weight_file": r"\.(hdf5|h5|safetensors)$"},
    "the options and the weights",
)
COVE_FILES = TwoFiles(
    COVE,
    {"vectors_file": r"\.(txt|vec|bin)$", "weight_file": r"\.(pth|pt)$"},
    "the vectors and the weights",
)


def two_files(text: str) -> tuple[str, dict[str, str]] | None:
    """
    The kind and the two parts, by their keys, of a name such as
    `OPTIONS.json+WEIGHTS.hdf5`; `None` for another name. Raises `InputError` if several
    `+` could be the one between them.
    """
    for form in (BILM_FILES, COVE_FILES):
        parts = _parts(text, form)
        if parts is not None:
            return form.kind, dict(zip(form.ends, parts, strict=True))
    return None


def _parts(text: str, form: TwoFiles) -> tuple[str, str] | None:
    first_end, second_end = form.ends.values()
    pairs = []
    for plus in re.finditer(r"\+", text):
        first = text[: plus.start()]
        second = text[plus.end() :]
        is_first = re.search(first_end, address(first), re.I)
        if is_first and re.search(second_end, address(second), re.I):
            pairs.append((first, second))
    if len(pairs) > 1:
        raise InputError(
            f"expected one + between {form.what}, got several",
            file=text,
            hint="write a + that is part of an address as %2B",
        )
    if not pairs:
        return None
    return pairs[0]


def address(text: str) -> str:
    """A path; for a URL, the part before its query and its digest."""
    before = text.partition("#")[0]
    if "://" in text:
        before = before.partition("?")[0]
    return before


def kind_of_folder(folder: Path, given: str) -> str:
    """
    The kind of the model in a folder. Raises `InputError`, which calls the folder
    `given`, if it has no model, several, or is the folder of a run.
    """
    names = names_in(folder)
    if is_of_a_run(names):
        raise InputError(
            f"expected {MODEL_FORMS}, got the folder of a run",
            file=given,
            hint="`elmo-tasks bilm export` writes the biLM that a run has trained",
        )
    return the_kind(names, config_in(folder), given)


def config_in(folder: Path) -> Any:
    """The content of the `config.json` in a folder, `None` without one."""
    if not (folder / CONFIG).is_file():
        return None
    return read_json(folder / CONFIG, "the config of a model")


def the_kind(names: Collection[str], config: Any, given: str) -> str:
    """
    The kind of the model with files of these names, and with this content of
    `config.json`. Raises `InputError` unless there is exactly one.
    """
    kinds = kinds_among(names, config)
    if len(kinds) == 1:
        return kinds[0]
    parts = (
        "a biLM has options.json and weights.hdf5, a transformer config.json and "
        "model.safetensors, ELMoForManyLangs encoder.pkl and token_embedder.pkl"
    )
    if not kinds:
        raise InputError(
            "expected the files of a model, got none", file=given, hint=parts
        )
    labels = [SOURCES[kind].label for kind in kinds]
    raise InputError(
        f"expected the files of one model, got those of {' and '.join(labels)}",
        file=given,
        hint=f"{parts}; put each into a folder of its own",
    )


def require_no_folder(name: str, what: str) -> None:
    """
    Raises `InputError` if the name of `what`, such as `a published model`, is also that
    of a folder with a model or a run.
    """
    folder = Path(name)
    if not folder.is_dir():
        return
    names = names_in(folder)
    if not is_of_a_run(names) and not kinds_among(names, None):
        return
    raise InputError(
        f"expected the name of one model, got that of both {what} and a folder",
        file=name,
        hint=f"./{name} means the folder; to use the other model, rename the folder",
    )


def is_of_a_run(names: Collection[str]) -> bool:
    """
    Whether files with these names belong to the folder of a training, which is not a
    model.
    """
    others = {BEST, ARCHIVE, META}
    return CONFIG in names and not others.isdisjoint(names)


def names_in(folder: Path) -> set[str]:
    """The names of all that is in a folder."""
    return {path.name for path in folder.iterdir()}


def kinds_among(names: Collection[str], config: Any) -> list[str]:
    """
    The kinds of the models that have files among those with these names, of which
    `config.json` has the content `config`.
    """
    found = []
    is_own = is_bilm_config(config)
    official = NAMES["hdf5"]["weight_file"]
    has_official = OPTIONS_FILE in names or _one_fits(names, official)
    if is_own or has_official:
        found.append(BILM)
    if ENCODER in names or WEIGHTS in names:
        found.append(MANYLANGS)
    has_weights = CONFIG in names and _one_fits(names, (SAFETENSORS, PICKLES))
    has_type = isinstance(config, Mapping) and "model_type" in config
    if not is_own and (has_weights or has_type):
        found.append(TRANSFORMER)
    return found


def _one_fits(names: Collection[str], patterns: Sequence[str]) -> bool:
    """Whether one of the names fits one of the patterns."""
    return any(fits_any(name, patterns) for name in names)


def one_file(text: str) -> InputError:
    """The error for one file in the place of a model."""
    return InputError(
        f"expected {MODEL_FORMS}, got one file",
        file=text,
        hint="a biLM has two, its options and its weights",
    )


def unknown(text: str) -> InputError:
    """The error for a name of nothing."""
    hints = []
    name = nearest_model(text)
    if name is not None:
        hints.append(f"nearest: {name}")
    hints.append(f"expected {MODEL_FORMS}")
    if _HUB_NAME.fullmatch(text):
        hints.append(f"for a model of the Hugging Face hub write hf://{text}")
    hints.append("`elmo-tasks models` lists names")
    return InputError("no such model", file=text, hint="; ".join(hints))
