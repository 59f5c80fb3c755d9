"""`allennlp check`: everything that is wrong with a config, before it is trained."""

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
            "Tell all that is wrong with configs: unknown keys, wrong types and names, missing files, a validation "
            "file that is the test file, knobs that do nothing; then build each on some instances and take one step: "
            "regexes that match no parameter, sizes that do not fit, whatever fails. Exit status 0: nothing is wrong."
        )
        subparser: argparse.ArgumentParser = parser.add_parser(
            self.name, description=description, help="Tell all that is wrong with configs, without training."
        )
        subparser.add_argument("configs", metavar="CONFIG", nargs="+", help="what allennlp train would read")
        subparser.add_argument("-o", "--overrides", default="", help="as for allennlp train, for each config")
        subparser.add_argument("--no-build", action="store_true", help="tell only what the config alone shows")
        subparser.set_defaults(func=check)
        return subparser


def check(args: argparse.Namespace) -> None:
    """Prints a line per config and one per problem; exits with 1 where there is any."""
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
    """Without bars over a handful of instances, and without warnings: what AllenNLP warns of is a problem here."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            yield
    finally:
        logging.disable(before)


def _summary(report: Report) -> str:
    count = len(report.problems)
    found = "nothing wrong" if count == 0 else "1 problem" if count == 1 else f"{count} problems"
    step = "" if report.loss is None else f", one step taken (loss {report.loss:.3f})"
    predictor = "" if report.predictor is None else f", predictor {report.predictor}"
    return f"{found}{step}{predictor}, {report.seconds:.1f} s"
