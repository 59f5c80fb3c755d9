"""`elmo-tasks evaluate`: AllenNLP's command, which does not overwrite the files that it reads."""

import argparse
import json

from allennlp.commands import evaluate as allennlp_evaluate

from elmo_tasks.archives import unpacked
from elmo_tasks.atomic import check_output_path
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
    for outputs in (args.output_file, args.predictions_output_file):
        for output in filter(None, (outputs or "").split(",")):
            check_output_path(output, read=read, device=True)
    with unpacked(args.archive_file) as folder:
        args.archive_file = str(folder)
        print(json.dumps(allennlp_evaluate.evaluate_from_args(args), indent=2))
