"""The runs of `elmo-tasks ablate`: their plan, and their execution."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from elmo_tasks.experiments.tables.cluster import RayWorkers
from elmo_tasks.experiments.tables.figures import draw_scores
from elmo_tasks.experiments.tables.local import LocalWorkers
from elmo_tasks.experiments.tables.process import Workers
from elmo_tasks.experiments.tables.session import Session
from elmo_tasks.experiments.tables.table import PASSES
from elmo_tasks.experiments.tables.text import results
from elmo_tasks.system.files import check_output_path
from elmo_tasks.system.ray_cluster import connected

INTERRUPTED = 130
SCORES = "scores.png"


def run_table(args: argparse.Namespace) -> None:
    """
    Show the plan, or execute it and show the table. Exit with 1 if a run failed, 130 if
    interrupted.
    """
    if args.figures is not None:
        check_output_path(args.figures / SCORES)
    if args.dry_run:
        session = _session(args, LocalWorkers(args.workers or 1))
        print(dry_run(session))
        session.check()
        return
    status = 0
    with _open_workers(args) as workers:
        session = _session(args, workers)
        try:
            session.run_all(partial(print, flush=True))
        except KeyboardInterrupt:
            print("interrupted; the same command resumes", flush=True)
            status = INTERRUPTED
    summary = session.write()
    print(f"\n{results(summary)}")
    print(f"\n{session.folder / 'table.md'}")
    if args.figures is not None:
        draw_scores(summary, args.figures / SCORES)
        print(args.figures / SCORES)
    for row in summary.rows:
        if summary.records[row.name] and not summary.values(row):
            status = status or int(row.metric != PASSES)  # it has another metric
    if status or session.failed:
        raise SystemExit(status or 1)


@contextmanager
def _open_workers(args: argparse.Namespace) -> Iterator[Workers]:
    """Processes of this machine, or with `--ray` tasks of a cluster."""
    if args.ray is None:
        yield LocalWorkers(args.workers or 1)
        return
    with connected(args.ray or None) as ray:
        yield RayWorkers(ray, args.workers)


def _session(args: argparse.Namespace, workers: Workers) -> Session:
    return Session(
        args.table,
        Path(args.folder),
        scale=args.scale,
        runs=args.runs,
        rows=args.rows,
        seeds=args.seeds,
        workers=workers,
        cached=not args.no_cache,
        packages=args.include_package,
    )


def dry_run(session: Session) -> str:
    """The runs and the changes of each row, or the files that it lacks."""
    planner = session.planner
    left = {run.digest for run in session.left}
    lines = [session.table.title]
    for row in session.rows:
        if planner.is_missing(row):
            of = [planner.table.row(name) for name in row.others]
            needed = [file for one in (row, *of) for file in one.missing]
            lines.append(f"{row.name}: missing, needs {', '.join(needed)}")
            continue
        runs = [planner.run(row, seed) for seed in row.seeds(session.seeds)]
        own = len([run for run in runs if run.digest in left])
        state = f"{own} to run" if own else "finished"
        lines.append(f"{row.name}: {row.config.name}; {state}")
        for change in planner.differences(row):
            lines.append(f"    {change}")
    lines.append(f"{len(left)} runs, {session.workers.slots} at a time")
    return "\n".join(lines)
