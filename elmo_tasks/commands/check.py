"""`allennlp check`: all problems of a config, before training."""

import argparse
import contextlib
import io
import logging
import sys
from collections.abc import Iterator

from allennlp.commands.subcommand import Subcommand

from elmo_tasks.checks.config import Report, check_config


@Subcommand.register("check")
class Check(Subcommand):
    """`allennlp check CONFIG...`."""

    def add_subparser(self, parser: argparse._SubParsersAction) -> argparse.ArgumentParser:
        """Called by AllenNLP."""
        description = (
            "Report all problems of configs: unknown keys, invalid types and names, missing files, a validation file "
            "that is the test file, unused keys. Then build each on some instances and take one training step, which "
            "finds regexes that match no parameter and sizes that do not match. Exit status 0 if there is no problem."
        )
        subparser: argparse.ArgumentParser = parser.add_parser(
            self.name, description=description, help="report all problems of configs, without training"
        )
        subparser.add_argument("configs", metavar="CONFIG", nargs="+", help="as for allennlp train")
        subparser.add_argument("-o", "--overrides", default="", help="as for allennlp train, for each config")
        subparser.add_argument("--no-build", action="store_true", help="check the config only")
        subparser.set_defaults(func=check)
        return subparser


def check(args: argparse.Namespace) -> None:
    """Print a line per config and one per problem; exit with 1 if there is any."""
    problems = 0
    for file in args.configs:
        with _quiet():
            report = check_config(file, args.overrides, build=not args.no_build)
        problems += len(report.problems)
        print(f"{file}: {_summary(report)}")
        for problem in report.problems:
            print(f"  {problem}", flush=True)
    sys.exit(1 if problems else 0)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Without progress bars and warnings."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    with contextlib.redirect_stderr(io.StringIO()):
        try:
            yield
        finally:
            logging.disable(before)


def _summary(report: Report) -> str:
    count = len(report.problems)
    found = "no problems" if count == 0 else "1 problem" if count == 1 else f"{count} problems"
    step = "" if report.loss is None else f", one step taken (loss {report.loss:.3f})"
    predictor = "" if report.predictor is None else f", predictor {report.predictor}"
    return f"{found}{step}{predictor}, {report.seconds:.1f} s"
