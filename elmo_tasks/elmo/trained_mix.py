"""
The mix of layers that a task's training has learned (Eq. 1), from an archive or the
folder of a run. There is one for each place where the model adds ELMo: `input` and
`output`.
"""

import os
import tempfile
from pathlib import Path
from typing import Any

from torch import Tensor

from elmo_tasks.elmo.layers import Layers
from elmo_tasks.elmo.models.files import ModelFiles
from elmo_tasks.elmo.models.record import read_record, require_recorded
from elmo_tasks.elmo.scalar_mix import MixSettings, ScalarMix
from elmo_tasks.errors import InputError
from elmo_tasks.formats.json_files import read_json
from elmo_tasks.formats.tensor_files import load_tensors
from elmo_tasks.formats.unpacking import unpack
from elmo_tasks.system.run_names import BEST, CONFIG, MODEL_RECORD, WEIGHTS

PLACES = ("input", "output")


def open_trained_mix(archive: str, layers: Layers) -> ScalarMix:
    """
    The learned mix of an archive for the input, or for `PATH:output` for the output;
    frozen and in evaluation mode. Raises `InputError` if it has none, or was trained on another source.
    """
    path, place = _path_and_place(archive)
    config, state, records = _trained(path)
    settings = _mix_settings(config, path, place)
    require_recorded(layers.opened_files(), records, "open that model, with --model")
    mix = ScalarMix(layers.n_layers, settings)
    prefix = f".{place}_mix."
    learned = {
        key.partition(prefix)[2]: value for key, value in state.items() if prefix in key
    }
    if learned.keys() != mix.state_dict().keys():
        raise _no_mix(path, place)
    mix.load_state_dict(learned)
    return mix.eval().requires_grad_(False)


def is_trained_model(archive: str) -> bool:
    """
    Whether there is something at the path, which may end in `:input` or `:output`.
    """
    path, _ = _path_and_place(archive)
    return bool(archive) and os.path.exists(path)


def _path_and_place(archive: str) -> tuple[Path, str]:
    path, _, place = archive.rpartition(":")
    if place in PLACES:
        return Path(path), place
    return Path(archive), "input"


def _mix_settings(config: dict[str, Any], path: Path, place: str) -> MixSettings:
    model = config.get("model")
    elmo = model.get("elmo") if isinstance(model, dict) else None
    if not isinstance(elmo, dict) or elmo.get("at", "input") not in (place, "both"):
        raise _no_mix(path, place)
    if elmo.get("layer_norm") == "batch":
        problem = "expected vectors that do not depend on the batch"
        raise InputError(f"{problem}, got layer_norm: batch", file=path)
    return MixSettings.of(elmo)


def _no_mix(path: Path, place: str) -> InputError:
    problem = f"expected a model with ELMo at the {place}, got none there"
    return InputError(problem, file=path, hint="PATH:input or PATH:output says where")


_Trained = tuple[dict[str, Any], dict[str, Tensor], list[ModelFiles]]
"""The config of a training, its state, and the models that it has used."""


def _trained(path: Path) -> _Trained:
    """What an archive, or the folder of a training, contains."""
    try:
        if path.is_dir():
            return _read(path, path / BEST)
        with tempfile.TemporaryDirectory() as folder:
            unpack(path, folder, [CONFIG, WEIGHTS, MODEL_RECORD])
            return _read(Path(folder), Path(folder) / WEIGHTS)
    except Exception as error:  # damaged files raise errors of any kind
        problem = f"cannot read the model: {type(error).__name__}: {error}"
        raise InputError(problem, file=path) from None


def _read(folder: Path, weights: Path) -> _Trained:
    config = read_json(folder / CONFIG, "the model's config")
    return dict(config), dict(load_tensors(weights)), read_record(folder)
