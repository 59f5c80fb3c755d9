"""Tables on real configs, and runs that pretend to have been carried out."""

import json
from pathlib import Path
from typing import Any

from elmo_tasks.ablation import folder as folders
from elmo_tasks.ablation.runs import Planner, Run
from elmo_tasks.ablation.table import read_table

CONFIGS = Path(__file__).resolve().parents[2] / "training_config"


def row(name: str, **keys: Any) -> dict[str, Any]:
    """A row on `ner_elmo`, or on `ner` where its name says baseline."""
    config = "ner" if "baseline" in name else "ner_elmo"
    known = {"config": str(CONFIGS / f"{config}.jsonnet"), "line": "NER", "column": name, "metric": "f1"}
    return {"name": name, **known, **keys}


LAST = {"model.elmo.mix": "last", "model.elmo.l2": None}


def write_table(folder: Path, rows: list[dict[str, Any]], **keys: Any) -> Path:
    """The file of a table with these rows."""
    file = folder / "table.jsonnet"
    file.write_text(json.dumps({"title": "A table", "rows": rows, **keys}))
    return file


def planner(folder: Path, rows: list[dict[str, Any]], **keys: Any) -> Planner:
    """The planner of such a table, with runs below the same folder."""
    return Planner(read_table(write_table(folder, rows, **keys)), folder / "runs")


def finish(run: Run, *, curve: list[float] | None = None, seconds: float = 60.0, **scores: float) -> None:
    """Writes the result of a run, as if it had been carried out."""
    points = [{"epoch": epoch, "f1": f1} for epoch, f1 in enumerate(curve or [], start=1)]
    about: dict[str, Any] = {"row": run.row.name, "seed": run.seed, "hash": run.digest, "commit": "c" * 40}
    about |= {"device": "CPU, 1 thread", "versions": {"python": "3.11.2", "torch": "2.13.0"}}
    spent: dict[str, Any] = {"seconds": seconds, "peak_memory": 10**9, "epochs": len(points)}
    spent |= {"started": "2026-11-20T23:00:00+00:00", "finished": "2026-11-21T01:00:00+00:00"}
    folders.write_json(run.folder / folders.RESULT, {**about, **spent, "scores": scores, "curve": points})


def fail(run: Run, reason: str) -> None:
    """Writes why a run has failed."""
    folders.write_json(run.folder / folders.FAILURE, {"row": run.row.name, "seed": run.seed, "reason": reason})
