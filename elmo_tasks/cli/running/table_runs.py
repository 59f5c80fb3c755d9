"""The runs of `elmo-tasks ablate`: their plan, and their execution."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from elmo_tasks.experiments.tables.cluster import RayWorkers
from elmo_tasks.experiments.tables.local import LocalWorkers
from elmo_tasks.experiments.tables.process import Workers
from elmo_tasks.experiments.tables.session import Session
from elmo_tasks.experiments.tables.table import Row
from elmo_tasks.experiments.tables.text import results
from elmo_tasks.system.ray_cluster import connected
from elmo_tasks.training.checks.files import file_problems

INTERRUPTED = 130


def run_table(args: argparse.Namespace) -> None:
    """
    Show the plan, or execute it and show the table. Exit with 1 if a run failed, or a
    planned one lacks files, 130 if interrupted.
    """
    if args.dry_run:
        session = _session(args, LocalWorkers(args.workers or 1))
        print(dry_run(session))
        for row in session.rows:
            if missing_files(row, session):
                raise SystemExit(1)
        return
    with _open_workers(args) as workers:
        session = _session(args, workers)
        try:
            for line in session.run_all():
                print(line, flush=True)
        except KeyboardInterrupt:
            print("interrupted; the same command resumes", flush=True)
    summary = session.write()
    print(f"\n{results(summary)}")
    print(f"\n{session.folder / 'table.md'}")
    if session.interrupted:
        raise SystemExit(INTERRUPTED)
    if session.failed:
        raise SystemExit(1)


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
    """The changes of each row, the files that it lacks, and the estimated time."""
    session.check()
    lines = [session.table.title]
    without = 0  # rows that lack files
    for row in session.rows:
        missing = missing_files(row, session)
        if missing or session.planner.is_missing(row):
            without += 1
        if row.missing:
            lines.append(f"{row.name}: missing, needs {', '.join(row.missing)}")
        elif session.planner.is_missing(row):
            others = " and ".join(row.others)
            lines.append(
                f"{row.name}: missing, because {others} needs files that do not exist"
            )
        else:
            left = _left_of(row, session)
            state = f"{left} to run" if left else "finished"
            lines.append(f"{row.name}: {row.config.name}; {state}")
            for change in session.planner.differences(row):
                lines.append(f"    {change}")
            for problem in missing:
                lines.append(f"    {problem}")
    lines.append(
        f"{len(session.left)} runs, {session.workers.slots} at a time: {session.time_left()}"
    )
    if without:
        lines.append(
            f"{without} of {len(session.rows)} rows need files that do not exist"
        )
    return "\n".join(lines)


def missing_files(row: Row, session: Session) -> list[str]:
    """
    The files that the config of a row names and that do not exist, with their keys.
    None of a row that is not run: it is finished, or says itself which files it needs.
    """
    if session.planner.is_missing(row) or not _left_of(row, session):
        return []
    config = session.planner.resolved[row.name]
    return [str(problem) for problem in file_problems(config)]


def _left_of(row: Row, session: Session) -> int:
    """How many runs of a row are left; another row may have the same ones."""
    seeds = row.seeds(session.seeds)
    digests = {session.planner.run(row, seed).digest for seed in seeds}
    return len([run for run in session.left if run.digest in digests])
