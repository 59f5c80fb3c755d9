"""Tables of real configs, and results without training."""

import json
from pathlib import Path
from typing import Any

from elmo_tasks.experiments.tables import run_dir
from elmo_tasks.experiments.tables.runs import Planner, Run
from elmo_tasks.experiments.tables.table import read_table

CONFIGS = Path(__file__).resolve().parents[2] / "training_config"


def row(name: str, **keys: Any) -> dict[str, Any]:
    """A row with the config `ner_elmo`, or `ner` if its name contains baseline."""
    config = "ner" if "baseline" in name else "ner_elmo"
    known = {"config": config, "row_label": "NER", "column": name, "metric": "f1"}
    return {"name": name, **known, **keys}


LAST = {"model.elmo.mix": "last", "model.elmo.l2": None}


def write_table(folder: Path, rows: list[dict[str, Any]], **keys: Any) -> Path:
    """Write a table with these rows."""
    file = folder / "table.jsonnet"
    file.write_text(json.dumps({"title": "A table", "rows": rows, **keys}))
    return file


def planner(
    folder: Path, rows: list[dict[str, Any]], *, scale: str = "mini", **keys: Any
) -> Planner:
    """The planner of such a table, with its runs in the same folder."""
    return Planner(
        read_table(write_table(folder, rows, **keys), scale), folder / "runs"
    )


def finish(run: Run, **keys: Any) -> None:
    """Write a run's result, see `write_result`."""
    write_result(run.folder, {"row": run.row.name, "seed": run.seed}, **keys)


def write_result(
    folder: Path,
    plan: dict[str, Any],
    *,
    curve: list[float] | None = None,
    **scores: float,
) -> None:
    """Write the result of the run in a folder, of which the plan names row and seed."""
    points = []
    for epoch, f1 in enumerate(curve or [], start=1):
        points.append({"epoch": epoch, "f1": f1, "loss": f1})
    result = {
        "row": plan["row"],
        "seed": plan["seed"],
        "hash": folder.name.rpartition("-")[2],
        "commit": "c" * 40,
        "device": "CPU, 1 thread",
        "versions": {"python": "3.11.2", "torch": "2.13.0"},
        "seconds": 60.0,
        "epochs": len(points),
        "started": "2026-11-20T23:00:00+00:00",
        "finished": "2026-11-21T01:00:00+00:00",
        "scores": scores,
        "curve": points,
    }
    run_dir.write_json(folder / run_dir.RESULT, result)


def fail(run: Run, reason: str) -> None:
    """Write a run's failure."""
    run.prepare()
    run_dir.write_failure(run.folder, reason)
