"""
Stands in for the package of Weights & Biases: writes its calls to the file
`STAND_IN_CALLS`, and fails at the step `STAND_IN_FAILS_AT`.
"""

import json
import os
from pathlib import Path
from typing import Any


class Run:
    """A run."""

    def __init__(self, id: str) -> None:
        self.id = id

    def log(self, metrics: dict[str, float], step: int) -> None:
        if os.environ.get("STAND_IN_FAILS_AT") == str(step):
            raise OSError("no connection")
        note("log", metrics=metrics, step=step)

    def finish(self, exit_code: int) -> None:
        note("finish", exit_code=exit_code)


def init(id: str, **options: Any) -> Run:
    """The package's function."""
    if os.environ.get("STAND_IN_FAILS_AT") == "start":
        raise OSError("no connection")
    note("init", id=id, process=os.getpid(), **options)
    return Run(id)


def note(call: str, **arguments: Any) -> None:
    with Path(os.environ["STAND_IN_CALLS"]).open("a") as file:
        file.write(json.dumps({"call": call, **arguments}) + "\n")
