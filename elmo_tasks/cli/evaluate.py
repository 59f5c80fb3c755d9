"""`elmo-tasks evaluate`: the scores of a trained model on a file."""

import argparse
import json
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from elmo_tasks.cli.arguments import add_model, model_files
from elmo_tasks.errors import InputError
from elmo_tasks.files import atomic_write, check_output_path, write_text
from elmo_tasks.settings import Size, number

DESCRIPTION = "Print the scores of a trained model on a file as JSON."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `elmo-tasks evaluate ARCHIVE FILE`."""
    add_model(parser, "data in the format of the training data")
    add = parser.add_argument
    add("--output-file", metavar="FILE", help="also write the scores to this file")
    add(
        "--predictions-output-file",
        metavar="FILE",
        help="write the predictions, as the official scorer reads them",
    )
    add(
        "--batch-size",
        type=number(Size),
        metavar="N",
        help="instead of that of the config; the scores stay the same, except for a language model: its rows of text",
    )
    parser.set_defaults(func=evaluate)


def evaluate(args: argparse.Namespace) -> None:
    """Print the scores, after a check of the options."""
    from elmo_tasks.training.archives import load_archive, score
    from elmo_tasks.training.checks.files import require_device

    require_device(args.cuda_device)
    if not args.input_file:
        raise InputError("expected a file to evaluate, got an empty name")
    read = [*model_files(args), args.input_file]
    outputs = [
        file for file in (args.output_file, args.predictions_output_file) if file
    ]
    if len(set(outputs)) < len(outputs):
        raise InputError(f"expected a file for each output, got {', '.join(outputs)}")
    for output in outputs:
        check_output_path(output, read=read, device=True)
    archive = load_archive(
        args.archive_file,
        cuda_device=args.cuda_device,
        overrides=args.overrides,
        weights_file=args.weights_file,
        allow_downloads=args.allow_downloads,
    )
    predictions = Path(args.predictions_output_file or "none")
    with TemporaryDirectory() as folder:
        aside = (
            Path(folder) / predictions.name if args.predictions_output_file else None
        )
        scores = json.dumps(
            score(
                archive, args.input_file, batch_size=args.batch_size, predictions=aside
            ),
            indent=2,
        )
        is_new = not predictions.exists()
        for made in sorted(
            Path(folder).iterdir()
        ):  # official scorers need a second file
            named = predictions.with_name(made.name)
            check_output_path(named, read=read, device=True)
            if named != predictions and is_new and named.exists():
                raise InputError(
                    f"the file exists, and goes with {predictions}, which does not",
                    file=named,
                    hint="name another --predictions-output-file",
                )
        for made in sorted(Path(folder).iterdir()):
            with atomic_write(predictions.with_name(made.name)) as target:
                shutil.copyfile(made, target)
    if args.output_file:
        write_text(args.output_file, scores)
    print(scores)
