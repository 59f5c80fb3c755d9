"""`elmo-tasks evaluate`: AllenNLP's command, which does not overwrite the files that it reads."""

import argparse
import json
from contextlib import ExitStack

from allennlp.commands import evaluate as allennlp_evaluate

from elmo_tasks.archives import unpacked
from elmo_tasks.atomic import atomic_write, check_output_path
from elmo_tasks.commands.actions import Command, add_packages


class Evaluate(Command):
    """`elmo-tasks evaluate ARCHIVE FILE`, with AllenNLP's arguments."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...

    def add_parser(self, parsers: argparse._SubParsersAction, name: str, text: str) -> None:
        parser = allennlp_evaluate.Evaluate().add_subparser(parsers)
        parser.set_defaults(func=evaluate)
        add_packages(parser)


def evaluate(args: argparse.Namespace) -> None:
    """Print the scores as JSON, after a check of the output paths."""
    read = [args.archive_file, args.weights_file, *(file.strip(' "') for file in args.input_file.split(","))]
    with unpacked(args.archive_file) as folder, ExitStack() as written:
        for name in ("output_file", "predictions_output_file"):
            outputs = [output for output in (getattr(args, name) or "").split(",") if output]
            for output in outputs:
                check_output_path(output, read=read, device=True)
            if outputs:  # AllenNLP opens them by name
                setattr(args, name, ",".join(str(written.enter_context(atomic_write(output))) for output in outputs))
        args.archive_file = str(folder)
        scores = allennlp_evaluate.evaluate_from_args(args)
    print(json.dumps(scores, indent=2))
