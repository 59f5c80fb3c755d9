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


def finish(
    run: Run,
    *,
    curve: list[float] | None = None,
    confusion: dict[str, dict[str, int]] | None = None,
    **scores: float,
) -> None:
    """Write a run's result."""
    points = [
        {"epoch": epoch, "f1": f1} for epoch, f1 in enumerate(curve or [], start=1)
    ]
    about: dict[str, Any] = {
        "row": run.row.name,
        "seed": run.seed,
        "hash": run.digest,
        "commit": "c" * 40,
    }
    about |= {
        "device": "CPU, 1 thread",
        "versions": {"python": "3.11.2", "torch": "2.13.0"},
    }
    spent: dict[str, Any] = {
        "seconds": 60.0,
        "confusion": confusion or {},
        "peak_memory": 10**9,
        "epochs": len(points),
    }
    spent |= {
        "started": "2026-11-20T23:00:00+00:00",
        "finished": "2026-11-21T01:00:00+00:00",
    }
    run_dir.write_json(
        run.folder / run_dir.RESULT,
        {**about, **spent, "scores": scores, "curve": points},
    )


def fail(run: Run, reason: str) -> None:
    """Write a run's failure."""
    run_dir.prepare_run_dir(run)
    run_dir.write_failure(run.folder, reason)
