"""
The one name of a model -> its source and files: `--model`, `model.elmo.model` and
`Elmo.from_pretrained` mean the same by it.

| name | example | source |
|---|---|---|
| of the biLM that comes with the package | `bundled` | biLM |
| of a published model, see `elmo-tasks models` | `elmo-original`, `nlpl-209` | as published |
| a folder, or a ZIP, also of a URL | `my_bilm`, `162.zip` | by its files |
| a model of the Hugging Face hub | `hf://owner/name`, `hf://owner/name@v1` | by its files |
| the two files of a biLM, paths or URLs | `options.json+weights.hdf5` | biLM |
| the word vectors and weights of CoVe | `glove.txt+weights.pth` | CoVe |

Only files are looked at, and none of them is run. A source that another package has
registered, whose code would run, is never inferred.
"""

import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from elmo_tasks.elmo.manylangs import ENCODER, WEIGHTS
from elmo_tasks.elmo.source_files import recorded_source
from elmo_tasks.elmo.source_types import (
    BILM,
    COVE,
    FILE_KEYS,
    MANYLANGS,
    SOURCES,
    TRANSFORMER,
    SourceSettings,
)
from elmo_tasks.elmo.transformer_files import TRANSFORMER_WEIGHTS
from elmo_tasks.errors import InputError
from elmo_tasks.formats.bilm_files import NAMES, is_bilm_config
from elmo_tasks.formats.fetch import (
    fits_any,
    hub_files,
    is_hub_model,
    local_path,
    model_path,
)
from elmo_tasks.formats.json_files import read_json
from elmo_tasks.formats.models import BUNDLED, nearest, published
from elmo_tasks.option_values import MODEL_FORMS
from elmo_tasks.resources import embedded_bilm
from elmo_tasks.run_names import (
    ARCHIVE,
    BEST,
    CONFIG,
    META,
    OPTIONS_FILE,
    SAFETENSORS_FILE,
)

_ONE_FILE = re.compile(r"\.(json|hdf5|h5|safetensors)$", re.IGNORECASE)
"""The end of the name of one file of a model."""


class _TwoFiles(NamedTuple):
    """
    A source whose models may be named by their two files, `FIRST+SECOND`: the keys of
    the files, each with the end of its name, and what errors call them.
    """

    source: str
    ends: Mapping[str, str]
    what: str


_BILM_FILES = _TwoFiles(
    BILM,
    {"options_file": r"\.json$", "weight_file": r"\.(hdf5|h5|safetensors)$"},
    "the options and the weights",
)
_COVE_FILES = _TwoFiles(
    COVE,
    {"vectors_file": r"\.(txt|vec|bin)$", "weight_file": r"\.(pth|pt)$"},
    "the vectors and the weights",
)

_COVE_FORM = "VECTORS.txt+WEIGHTS.pth"
"""What the name of a CoVe is."""

_HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+")


def settings_of(model: str | Path) -> dict[str, str]:
    """
    The keys of `SourceSettings` that a name means: `source`, and `model` or two files
    of a biLM or of CoVe; of the bundled biLM, `source` alone. Raises `InputError` if it
    names no model, more than one, or only a part of one, or if something cannot be
    fetched.
    """
    text = os.fspath(model)
    named = _in_parts(text)
    if named is not None:
        return named
    return {"source": _source_of(text), "model": text}


def _in_parts(text: str) -> dict[str, str] | None:
    """
    `settings_of` the bundled biLM, or of a model that is named by its two files; `None`
    for another name.
    """
    if is_bundled(text):
        return {"source": BILM}
    for kind in (_BILM_FILES, _COVE_FILES):
        pair = _pair(text, kind)
        if pair is not None:
            return {"source": kind.source, **dict(zip(kind.ends, pair, strict=True))}
    return None


def with_source(
    settings: SourceSettings, run_folder: str | None = None
) -> SourceSettings:
    """
    The settings with the source of their model. A trained model remembers it in the
    folder of its run or archive, so that nothing is looked at or fetched for it. Raises
    `InputError` as `settings_of` does, or if other settings do not fit the source.
    """
    if settings.model is None:
        return settings
    text = os.fspath(settings.model)
    if settings.source is None and run_folder is not None:
        source = recorded_source(text, run_folder)
        if source is not None:
            return replace(settings, source=source)
    named = _in_parts(text) or {}
    source = named.get("source")
    if settings.source == COVE and source != COVE:
        raise InputError(f"expected {_COVE_FORM} for CoVe", file=text)
    if settings.source == BILM and source == COVE:
        raise InputError("expected a biLM, got CoVe", file=text)
    if settings.source is None:
        named = named or settings_of(text)
    elif settings.source != source:
        return settings
    # The model replaces the two files.
    others = dict.fromkeys(FILE_KEYS)
    found: dict[str, Any] = {**others, **named}
    return replace(settings, **found)


def local_files(model: str) -> list[str]:
    """The files on this machine that a name means, as far as they are given by paths."""
    if is_bundled(model):
        return [str(path) for path in embedded_bilm()]
    named = _in_parts(model)
    if named is not None:
        return [named[key] for key in FILE_KEYS if key in named]
    if not model:
        return []
    folder = Path(model).expanduser()
    if not folder.is_dir():
        return [str(folder)]
    return [str(path) for path in sorted(folder.iterdir()) if path.is_file()]


def is_bundled(text: str) -> bool:
    """
    Whether a name means the bundled biLM. Raises `InputError` if a folder with a model
    or a run has the same name.
    """
    if text != BUNDLED:
        return False
    _require_no_folder(text)
    return True


def two_files(text: str) -> tuple[str, str] | None:
    """
    The two parts of `OPTIONS.json+WEIGHTS.hdf5`; `None` for another text. Raises
    `InputError` if several `+` could be the one between them.
    """
    return _pair(text, _BILM_FILES)


def _pair(text: str, kind: _TwoFiles) -> tuple[str, str] | None:
    """The two parts of a text, if their addresses end as those of `kind`."""
    first_end, second_end = kind.ends.values()
    found = []
    for place in re.finditer(r"\+", text):
        first = text[: place.start()]
        second = text[place.end() :]
        is_first = re.search(first_end, _address(first), re.I)
        if is_first and re.search(second_end, _address(second), re.I):
            found.append((first, second))
    if len(found) > 1:
        raise InputError(
            f"expected one + between {kind.what}, got several",
            file=text,
            hint="write a + that is part of an address as %2B",
        )
    if not found:
        return None
    return found[0]


def _address(text: str) -> str:
    """A path; of a URL, what stands before its query and its digest."""
    address = text.partition("#")[0]
    if "://" in text:
        address = address.partition("?")[0]
    return address


def _source_of(text: str) -> str:
    """The source of a whole model."""
    model = published(text)
    if model is not None:
        _require_no_folder(text)
        return model.source
    if is_hub_model(text):
        return _source_of_hub(text)
    if "://" in text and _ONE_FILE.search(_address(text)):
        raise _one_file(text)
    path = model_path(text)
    if not text or not path.exists():
        raise _unknown(text)
    if not path.is_dir():
        raise _one_file(text)
    return _source_of_folder(path, text)


def _require_no_folder(name: str) -> None:
    """
    Raises `InputError` if the name of a published model, or of the bundled one, is also
    that of a folder with a model or a run.
    """
    folder = Path(name)
    if not folder.is_dir():
        return
    names = _names_in(folder)
    if not is_of_a_run(names) and not _sources_among(names, lambda: None):
        return
    what = "a published model"
    if name == BUNDLED:
        what = "the bundled model"
    raise InputError(
        f"expected the name of one model, got that of both {what} and a folder",
        file=name,
        hint=f"./{name} means the folder; to use the other model, rename the folder",
    )


def _source_of_hub(address: str) -> str:
    address = address.removesuffix("/")

    def read_config() -> Any:
        return read_json(local_path(f"{address}/{CONFIG}"), "the config of a model")

    return _the_one(_sources_among(hub_files(address), read_config), address)


def _source_of_folder(folder: Path, given: str) -> str:
    names = _names_in(folder)

    def read_config() -> Any:
        return read_json(folder / CONFIG, "the config of a model")

    if is_of_a_run(names):
        raise InputError(
            f"expected {MODEL_FORMS}, got the folder of a run",
            file=given,
            hint="`elmo-tasks bilm export` writes the biLM that a run has trained",
        )
    return _the_one(_sources_among(names, read_config), given)


def is_of_a_run(names: Collection[str]) -> bool:
    """
    Whether files with these names belong to the folder of a training, which is not a
    model.
    """
    others = {BEST, ARCHIVE, META}
    return CONFIG in names and not others.isdisjoint(names)


def _names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def _sources_among(names: Collection[str], read_config: Callable[[], Any]) -> list[str]:
    """The sources that have a model among files with these names."""
    config = None
    if CONFIG in names:
        config = read_config()
    found = []
    is_own = is_bilm_config(config)
    official = NAMES["hdf5"]["weight_file"]
    has_official = OPTIONS_FILE in names or _one_fits(names, official)
    if is_own or has_official:
        found.append(BILM)
    if ENCODER in names or WEIGHTS in names:
        found.append(MANYLANGS)
    has_weights = CONFIG in names and _one_fits(names, TRANSFORMER_WEIGHTS)
    has_type = isinstance(config, Mapping) and "model_type" in config
    if not is_own and (has_weights or has_type):
        found.append(TRANSFORMER)
    return found


def parts_of_models(
    names: Collection[str], read_config: Callable[[], Any]
) -> dict[str, list[str]]:
    """
    For each source, the files with these names that make a folder one of its models,
    even if the model is incomplete.
    """
    patterns = {
        BILM: [*NAMES["hdf5"]["options_file"], *NAMES["hdf5"]["weight_file"]],
        MANYLANGS: [ENCODER, WEIGHTS],
        TRANSFORMER: [],
    }
    sources = _sources_among(names, read_config)
    if TRANSFORMER in sources:
        patterns[TRANSFORMER] = [CONFIG, *TRANSFORMER_WEIGHTS]
    else:
        patterns[BILM].append(SAFETENSORS_FILE)
    if CONFIG in names and is_bilm_config(read_config()):
        patterns[BILM].append(CONFIG)
    found = {}
    for source, ones in patterns.items():
        parts = [name for name in sorted(names) if fits_any(name, ones)]
        if parts:
            found[source] = parts
    return found


def _one_fits(names: Collection[str], patterns: Sequence[str]) -> bool:
    for name in names:
        if fits_any(name, patterns):
            return True
    return False


def _the_one(found: list[str], given: str) -> str:
    """The source of a model's files. Raises `InputError` unless there is one."""
    if len(found) == 1:
        return found[0]
    parts = (
        "a biLM has options.json and weights.hdf5, a transformer config.json and "
        "model.safetensors, ELMoForManyLangs encoder.pkl and token_embedder.pkl"
    )
    if not found:
        raise InputError(
            "expected the files of a model, got none", file=given, hint=parts
        )
    labels = [SOURCES[source].label for source in found]
    raise InputError(
        f"expected the files of one model, got those of {' and '.join(labels)}",
        file=given,
        hint=f"{parts}; put each into a folder of its own",
    )


def _one_file(text: str) -> InputError:
    return InputError(
        f"expected {MODEL_FORMS}, got one file",
        file=text,
        hint="a biLM has two, its options and its weights",
    )


def _unknown(text: str) -> InputError:
    """The error for a name of nothing."""
    hints = []
    name = nearest(text)
    if name is not None:
        hints.append(f"nearest: {name}")
    hints.append(f"expected {MODEL_FORMS}")
    if _HUB_NAME.fullmatch(text):
        hints.append(f"for a model of the Hugging Face hub write hf://{text}")
    hints.append("`elmo-tasks models` lists names")
    return InputError("no such model", file=text, hint="; ".join(hints))
