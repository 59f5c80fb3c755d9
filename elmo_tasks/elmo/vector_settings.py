"""What vectors depend on: a file or a folder of vectors keeps it, and a call resumes only with the same."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

import elmo_tasks
from elmo_tasks.elmo.batching import BatchSizes
from elmo_tasks.elmo.vector_model import VectorModel
from elmo_tasks.errors import InputError, shown

PATHS = ("input", "options_file", "weight_file")
"""Settings that may differ when a call resumes: files may have moved."""


def vector_settings(model: VectorModel, sizes: BatchSizes, settings: Mapping[str, str | int]) -> dict[str, str | int]:
    """`settings`, and all that is known from the model and the sizes."""
    legible = {
        key: value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value
        for key, value in settings.items()  # names of files may be no UTF-8
    }
    if model.mix is not None:
        legible["mix"] = json.dumps({name: value.tolist() for name, value in model.mix.state_dict().items()})
    return {
        **legible,
        "state": model.bilm.state,
        "precision": model.bilm.precision,
        "output": model.output if model.mix is None else "mix",
        "layers": json.dumps(model.layer_names),
        "dtype": model.stored,
        "max_length": sizes.max_length,
        "overlap": sizes.overlap,
        "device": model.device.type,
        "elmo_tasks": elmo_tasks.__version__,
        "torch": str(torch.__version__),
    }


def require_same(found: Mapping[str, Any], expected: Mapping[str, Any], *, file: Path) -> None:
    """Raises `InputError` with all values of `found` that are not as expected; paths may differ."""
    differing = [
        f"{key} was {shown(found.get(key))}, is {shown(value)}"
        for key, value in expected.items()
        if key not in PATHS and found.get(key) != value
    ]
    if differing:
        hint = "use the same input and options to resume, another file name, or --force to start from scratch"
        raise InputError("was begun by another call: " + "; ".join(differing), file=file, hint=hint)
