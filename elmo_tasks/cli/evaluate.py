"""`elmo-tasks evaluate`: AllenNLP's command, which does not overwrite the files that it reads."""

import argparse
import json
from contextlib import ExitStack
from pathlib import Path

from allennlp.commands import evaluate as allennlp_evaluate
from allennlp.models.archival import get_weights_path

from elmo_tasks.cli.actions import Command, add_packages
from elmo_tasks.errors import InputError
from elmo_tasks.files import atomic_write, check_output_path
from elmo_tasks.training.archives import files_of, fitting, require_state, unpacked
from elmo_tasks.training.checks.devices import require_device


class Evaluate(Command):
    """`elmo-tasks evaluate ARCHIVE FILE`, with AllenNLP's arguments."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...

    def add_parser(self, parsers: argparse._SubParsersAction, name: str, text: str) -> None:
        parser = allennlp_evaluate.Evaluate().add_subparser(parsers)
        parser.set_defaults(func=evaluate)
        add_packages(parser)


def evaluate(args: argparse.Namespace) -> None:
    """Print the scores as JSON, after a check of the options."""
    if args.batch_size is not None and args.batch_size < 1:
        raise InputError(f"--batch-size must be at least 1, got {args.batch_size}")
    require_device(args.cuda_device)
    inputs = [file.strip(' "') for file in args.input_file.split(",")]
    if not all(inputs):
        raise InputError("expected a file to evaluate, got an empty name")
    outputs = {name: (getattr(args, name) or "").split(",") for name in ("output_file", "predictions_output_file")}
    given = [output for names in outputs.values() for output in names if output]
    if len(set(given)) < len(given):
        raise InputError(f"expected a file for each output, got {', '.join(given)}")
    for output in given:
        check_output_path(output, read=[*files_of(args), *inputs], device=True)
    with unpacked(args.archive_file) as folder, ExitStack() as written:
        for name, paths in outputs.items() if args.auto_names == "NONE" else ():  # AllenNLP opens them by name
            if any(paths):
                setattr(args, name, ",".join(str(written.enter_context(atomic_write(path))) for path in paths))
        args.archive_file = str(folder)
        require_state(Path(args.weights_file or get_weights_path(folder)))
        try:
            with fitting():
                scores = allennlp_evaluate.evaluate_from_args(args)
        except AssertionError as error:  # as many outputs as inputs
            raise InputError(str(error)) from error
    print(json.dumps(scores, indent=2))
