"""What kind of model a name, or the files of a folder, mean. Nothing is run or fetched."""

import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from elmo_tasks.elmo.sources.types import SOURCES
from elmo_tasks.errors import InputError
from elmo_tasks.formats.fetching.published import nearest_model
from elmo_tasks.formats.json_files import read_json
from elmo_tasks.option_values import MODEL_FORMS
from elmo_tasks.system.run_names import BEST, CONFIG

_HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+")


def two_files(text: str) -> tuple[str, dict[str, str]] | None:
    """
    The kind and the two parts, by their keys, of a name such as
    `OPTIONS.json+WEIGHTS.hdf5`; `None` for another name. Of several `+` that could be
    the one between them, it is the first.
    """
    for kind, source in SOURCES.items():
        for plus in re.finditer(r"\+", text):
            parts = (text[: plus.start()], text[plus.end() :])
            if source.ends and all(map(_ends_so, source.ends, parts)):
                return kind, dict(zip(source.files, parts, strict=True))
    return None


def _ends_so(end: str, part: str) -> bool:
    return re.search(end, address(part), re.IGNORECASE) is not None


def address(text: str) -> str:
    """A path; for a URL, the part before its query and its digest."""
    before = text.partition("#")[0]
    if "://" in text:
        before = before.partition("?")[0]
    return before


def kind_of_folder(folder: Path, given: str) -> str:
    """
    The kind of the model in a folder. Raises `InputError`, which calls the folder
    `given`, if it has no model or several, or is the folder of a run.
    """
    names = names_in(folder)
    kinds = kinds_among(names, config_in(folder))
    if len(kinds) == 1 and BEST not in names:  # ZIPs of others have meta.json, too
        return kinds[0]
    hints = ["`elmo-tasks bilm export` writes the biLM of a run"]
    for source in SOURCES.values():
        if source.hint:
            hints.append(f"{source.label}: {source.hint}")
    got = " and ".join([SOURCES[kind].label for kind in kinds]) or "none"
    raise InputError(
        f"expected the files of one model, got {got}", file=given, hint="; ".join(hints)
    )


def config_in(folder: Path) -> Any:
    """The content of the `config.json` in a folder, `None` without one."""
    if not (folder / CONFIG).is_file():
        return None
    return read_json(folder / CONFIG, "the config of a model")


def names_in(folder: Path) -> set[str]:
    """The names of all that is in a folder."""
    return {path.name for path in folder.iterdir()}


def kinds_among(names: Collection[str], config: Any) -> list[str]:
    """
    The kinds of the models that have files among those with these names, of which
    `config.json` has the content `config`.
    """
    keys = config if isinstance(config, Mapping) else {}
    return [kind for kind, source in SOURCES.items() if source.is_in(names, keys)]


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
