"""`allennlp ablate`: a table of the paper, from its data file to numbers, figures and a report."""

import argparse
import sys
from pathlib import Path

from allennlp.commands.subcommand import Subcommand
from allennlp.common.util import SigTermReceived

from elmo_tasks.ablation.execute import execute
from elmo_tasks.ablation.folder import BUSY, BusyError
from elmo_tasks.ablation.progress import duration
from elmo_tasks.ablation.session import EXECUTORS, LOCAL, Session
from elmo_tasks.ablation.text import changes, terminal

INTERRUPTED = 130


@Subcommand.register("ablate")
class Ablate(Subcommand):
    """`allennlp ablate TABLE.jsonnet -s DIR`."""

    def add_subparser(self, parser: argparse._SubParsersAction) -> argparse.ArgumentParser:
        """Called by AllenNLP."""
        description = (
            "Carry out the runs of a table, row by row and seed by seed, and write table.md, results.jsonl and"
            " report.html. What is finished is skipped and what was broken off goes on: call the same command again."
        )
        subparser: argparse.ArgumentParser = parser.add_parser(
            self.name, description=description, help="reproduce a table of the paper"
        )
        subparser.add_argument("table", metavar="TABLE", help="a file of training_config/ablations, or your own")
        subparser.add_argument("-s", "--folder", required=True, metavar="DIR", help="folder for runs and results")
        subparser.add_argument(
            "--runs", metavar="DIR", help="folder of the runs, if tables are to share them (DIR/runs)"
        )
        subparser.add_argument(
            "--rows", nargs="+", default=[], metavar="PATTERN", help="only these rows, such as 'snli-*'"
        )
        subparser.add_argument("--seeds", type=int, default=1, metavar="N", help="seeds 1 to N of each row (1)")
        subparser.add_argument("--workers", type=int, default=1, metavar="N", help="runs at a time (1)")
        subparser.add_argument("--executor", choices=EXECUTORS, default=LOCAL, help="where runs are carried out")
        subparser.add_argument("--no-cache", action="store_true", help="let every run compute the biLM's layers itself")
        subparser.add_argument(
            "--dry-run", action="store_true", help="show rows, their changes and the cost; run nothing"
        )
        subparser.set_defaults(func=ablate)
        return subparser


@Subcommand.register("ablate-run")
class AblateRun(Subcommand):
    """`allennlp ablate-run FOLDER`."""

    def add_subparser(self, parser: argparse._SubParsersAction) -> argparse.ArgumentParser:
        """Called by AllenNLP."""
        description = "Carry out one run that `allennlp ablate` has laid out; it starts this command for each."
        subparser: argparse.ArgumentParser = parser.add_parser(
            self.name, description=description, help="one run of a table"
        )
        subparser.add_argument("folder", metavar="FOLDER", help="a folder with a plan.json")
        subparser.add_argument("--parent", type=int, metavar="PID", help="end when this process does")
        subparser.set_defaults(func=ablate_run)
        return subparser


def ablate_run(args: argparse.Namespace) -> None:
    """Carries out a run; exits with `BUSY` where another process is at it."""
    try:
        execute(args.folder, parent=args.parent)
    except BusyError as error:
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(BUSY) from None


def ablate(args: argparse.Namespace) -> None:
    """Shows the plan, or carries it out and shows the table. Exits with 1 if a run has failed, 130 if interrupted."""
    try:
        session = _session(args)
        if args.dry_run:
            print(dry_run(session))
            return
    except (KeyboardInterrupt, SigTermReceived):
        print("interrupted before anything was begun", flush=True)
        raise SystemExit(INTERRUPTED) from None
    try:
        for line in session.run_all():
            print(line, flush=True)
    except (KeyboardInterrupt, SigTermReceived):
        print("interrupted; the same command goes on from here", flush=True)
    summary = session.write()
    print(f"\n{terminal(summary)}\n\n{session.report_file}")
    if session.interrupted or session.failed:
        raise SystemExit(INTERRUPTED if session.interrupted else 1)


def _session(args: argparse.Namespace) -> Session:
    return Session(
        args.table,
        Path(args.folder),
        runs=args.runs and Path(args.runs),
        rows=args.rows,
        seeds=args.seeds,
        workers=args.workers,
        executor=args.executor,
        cached=not args.no_cache,
    )


def dry_run(session: Session) -> str:
    """Each row's difference from its base and its cost, then the sum."""
    lines = [session.table.title]
    for row in session.rows:
        if row.missing:
            lines.append(f"{row.name}: missing, needs {', '.join(row.missing)}")
            continue
        left = [run for run in session.left if run.row.name == row.name]
        costs = [duration(session.estimates.seconds(run)) for run in left[:1]]
        todo = f"{len(left)} to run, each {costs[0]}" if left else "finished"
        lines.append(f"{row.name}: {row.configs[0].name}; {todo}")
        lines += [f"    {change}" for change in changes(session.differences(row))]
    total = session.estimates.left(session.left, workers=session.workers)
    lines.append(f"{len(session.left)} runs, {session.workers} at a time: {total}")
    return "\n".join(lines)
