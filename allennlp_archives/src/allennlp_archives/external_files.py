"""
What the config of an archive names and does not contain: transformers, and the files of
AllenNLP's ELMo. Each is found on this machine before a model is built, or all that are
missing are named in one error.

| named | where it is looked for |
|---|---|
| a transformer | `local`, a folder, the cache of the Hugging Face hub |
| ELMo's `options_file` | `local`, a path, the cache; not needed for the published models |
| ELMo's `weight_file` | `local`, a path, the cache; else the weights are the archive's |
| any other URL | `local` |

Unless `offline`, what is not found is fetched. A model of our own says which files it
was trained with; it gets the key `offline`.
"""

import atexit
import inspect
import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

from allennlp.common import Registrable
from allennlp.common.checks import ConfigurationError
from allennlp.modules.token_embedders import ElmoTokenEmbedder
from torch import Tensor

from allennlp_archives.elmo_state import bilm_of, bilms_in, options_of, part_of
from allennlp_archives.options import LOCAL
from elmo_tasks.bilm.bilm import BiLM
from elmo_tasks.bilm.options import BiLMOptions
from elmo_tasks.elmo.sources.transformer_files import require_text_model
from elmo_tasks.errors import InputError
from elmo_tasks.formats.fetching.fetch import NotAllowed, hub_model, local_path
from elmo_tasks.formats.fetching.published import MODELS
from elmo_tasks.system.run_names import OPTIONS_FILE, WEIGHT_FILE
from elmo_tasks.training.archives.outside import (
    ELMO,
    OTHER_WEIGHTS,
    PARTS,
    TRANSFORMER_KEYS,
    URL,
    is_ours,
)

EMBEDDERS = ("pretrained_transformer", "pretrained_transformer_mismatched")

READ_OLD_WEIGHTS = ("t5", "transformer_classification_tt", "transformer_mc_tt")
"""Models that read a transformer with AllenNLP's own code, and `OLD_WEIGHTS` alone."""

OLD_WEIGHTS = "pytorch_model.bin"

_HUB_FILES = ("*.json", "*.txt", "*.model", "*.safetensors", "*.bin")
"""What transformers may read of a model."""

ELMO_FILES = ("options_file", "weight_file")

_numbers = count()


class ExternalFiles:
    """
    What a config needs that its archive does not contain.

    # Parameters

    - `local`: paths of this machine, by the name or URL in the config for which the user
      gave them.
    - `state`: the archive's weights.
    - `folder`: that of the unpacked archive, for files that only loading reads.
    - `offline`: whether nothing may be fetched.
    """

    def __init__(
        self,
        local: Mapping[str, str],
        state: Mapping[str, Tensor],
        folder: Path,
        *,
        offline: bool,
    ) -> None:
        self._offline = offline
        self._local = local
        self._state = state
        self._folder = folder
        self._links: dict[str, Path] = {}
        self.found: dict[str, Path] = {}
        """Where something is, by its name."""
        self.missing: dict[str, str] = {}
        """What something is that is not on this machine, by its name."""

    def resolved(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """
        The config with paths of this machine instead of names; `found` and
        `missing` are complete then. Raises `InputError` if a path that the user gave
        does not exist.
        """
        for path in self._local.values():
            if not os.path.exists(path):
                raise InputError(f"{LOCAL}: no such file or folder", file=path)
        changed = dict(config)
        for key, kind in PARTS.items():
            if isinstance(changed.get(key), dict):
                completed = _with_defaults(changed[key], kind)
                changed[key] = self._part("", completed, in_model=key == "model")
        return changed

    def require_all(self, file: str | Path) -> None:
        """Raises `InputError` for the archive `file` if anything is missing."""
        if not self.missing:
            return
        listed = []
        for name, what in self.missing.items():
            listed.append(f"the {what} {name}")
        first = next(iter(self.missing))
        raise InputError(
            f"the archive needs what is not on this machine: {', '.join(listed)}",
            file=file,
            hint=f"""{LOCAL}='{{"{first}": PATH}}' says where it is, """
            "--allow-downloads fetches it",
        )

    def _part(self, key: str, value: Any, *, in_model: bool) -> Any:
        """A part of the config that has this key, or is in a list that has it."""
        if isinstance(value, list):
            return [self._part(key, part, in_model=in_model) for part in value]
        if value == ELMO and key != "type":
            return self._elmo({"type": ELMO})
        if isinstance(value, str):
            return self._text(key, value)
        if not isinstance(value, dict):
            return value
        if _is_elmo(value):
            return self._elmo(value)
        if is_ours(key, value):
            return {**value, "offline": self._offline}
        changed = {}
        for name, part in value.items():
            if not in_model or name not in OTHER_WEIGHTS:
                changed[name] = self._part(name, part, in_model=in_model)
        if in_model and changed.get("type") in EMBEDDERS:
            changed["load_weights"] = False
        if in_model and changed.get("type") in READ_OLD_WEIGHTS:
            self._require_old_weights(value)
        return changed

    def _text(self, key: str, value: str) -> str:
        """A text in the config: the name of a transformer, a URL, or something else."""
        if key in TRANSFORMER_KEYS:
            return self._transformer(value)
        if value in self._local:
            self.found[value] = Path(self._local[value])
            return self._local[value]
        if self._offline and URL.match(value):
            self.missing[value] = "file"
        return value

    def _require_old_weights(self, config: Mapping[str, Any]) -> None:
        """Transformers without this file of weights are `missing`."""
        for key in TRANSFORMER_KEYS:
            name = config.get(key)
            if name in self.found and not (self.found[name] / OLD_WEIGHTS).exists():
                self.missing[name] = f"{OLD_WEIGHTS} of the transformer"

    def _transformer(self, name: str) -> str:
        """
        The path of a transformer, whose last parts are its name: some classes see in
        it, for instance, that a model has no capital letters.
        """
        if name in self._local:
            folder = Path(self._local[name])
        elif os.path.isdir(name):
            folder = Path(name)
        else:
            try:
                folder = hub_model(name, _HUB_FILES, offline=True)
            except InputError:
                if self._offline:
                    self.missing[name] = "transformer"
                else:  # AllenNLP fetches the weights
                    require_text_model(hub_model(name, ["*.json"]))
                return name
        require_text_model(folder)
        self.found[name] = folder
        if folder == Path(name):
            return name
        if name not in self._links:
            self._links[name] = _linked(name, folder)
        return str(self._links[name])

    def _elmo(self, config: dict[str, Any]) -> dict[str, Any]:
        """The config of AllenNLP's ELMo, with files of this machine."""
        defaults = inspect.signature(ElmoTokenEmbedder.__init__).parameters
        names = {}
        for key in ELMO_FILES:
            names[key] = config.get(key, defaults[key].default)
        paths = {}
        for key, name in names.items():
            path = self._file(name)
            if path is not None:
                paths[key] = str(path)
        if len(paths) < len(names):
            bilm = self._bilm(paths.get("options_file"), names["options_file"])
            if bilm is None:
                return config
            paths = _written(bilm, self._folder / f"elmo-{next(_numbers)}")
        return {**config, **paths}

    def _file(self, name: str) -> Path | None:
        """The path of a file, if it is on this machine or may be fetched."""
        if name in self._local:
            path = Path(self._local[name])
        else:
            try:
                path = local_path(name, offline=self._offline)
            except NotAllowed:
                return None
        if not path.is_file():
            return None
        self.found[name] = path
        return path

    def _bilm(self, options_file: str | None, name: str) -> BiLM | None:
        """
        The biLM in the archive's weights, if its sizes are known: they are in its options
        or are, for a published model, those of the paper's.
        """
        for prefix in bilms_in(self._state):
            state = part_of(self._state, prefix)
            if options_file is not None:
                options = BiLMOptions.from_file(options_file)
            elif is_published(name):
                options = options_of(state)
            else:
                break
            with suppress(InputError):  # another biLM of the model
                return bilm_of(state, options)
        self.missing[name] = "file of ELMo's options"
        return None


def is_published(url: str) -> bool:
    """Whether a published biLM has a file of this name: hosts and folders changed."""
    wanted = url.rpartition("/")[2]
    for model in MODELS.values():
        for file in model.files:
            if (
                model.source == "bilm"
                and file.rpartition("/")[2] == wanted != OPTIONS_FILE
            ):
                return True
    return False


def _with_defaults(config: dict[str, Any], kind: type[Registrable]) -> dict[str, Any]:
    """
    The config of a registered class, in which the names of transformers that it takes by
    default are written down.
    """
    name = config.get("type")
    try:
        found, constructor = kind.resolve_class_name(name)
        made = getattr(found, constructor) if constructor else found.__init__
        parameters = inspect.signature(made).parameters
    except (ConfigurationError, TypeError, ValueError, AttributeError):
        return config
    defaults = {}
    for key in TRANSFORMER_KEYS:
        if key in parameters and isinstance(parameters[key].default, str):
            defaults[key] = parameters[key].default
    return {**defaults, **config}


def _is_elmo(config: Mapping[str, Any]) -> bool:
    """Whether this is a config of AllenNLP's `ElmoTokenEmbedder` or `Elmo`."""
    if config.get("type") == ELMO:
        return True
    is_untyped = "type" not in config and "num_output_representations" in config
    return is_untyped and "options_file" in config


def _linked(name: str, folder: Path) -> Path:
    """
    A link to the folder of a transformer, whose last parts are its name. Each link is
    in a new folder, since one name may be the beginning of another.
    """
    parts = [part for part in name.split("/") if part not in ("", ".", "..")]
    link = _links().joinpath(str(next(_numbers)), *parts)
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(folder.absolute())
    return link


def _written(bilm: BiLM, folder: Path) -> dict[str, str]:
    """Writes the files of a biLM; returns the keys of a config."""
    folder.mkdir(parents=True)
    options_file = folder / OPTIONS_FILE
    weight_file = folder / WEIGHT_FILE
    bilm.save_files(options_file, weight_file, compress=False)
    return {"options_file": str(options_file), "weight_file": str(weight_file)}


@cache
def _links() -> Path:
    """A folder that lasts as long as the process: T5 opens its tokenizer when it predicts."""
    folder = tempfile.TemporaryDirectory(prefix="elmo-tasks-")
    atexit.register(folder.cleanup)
    return Path(folder.name)
