"""`elmo-tasks evaluate`: the scores of a trained model on a file."""

import argparse
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from elmo_tasks.cli.arguments import add_model, location, model_files
from elmo_tasks.errors import InputError
from elmo_tasks.settings import Size, number
from elmo_tasks.system.files import (
    PLAIN,
    atomic_write,
    check_output_path,
    require_distinct,
    write_text,
)

DESCRIPTION = "Print the scores of a trained model on a file, as JSON."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `elmo-tasks evaluate ARCHIVE FILE`."""
    add_model(parser, "a file in the format of the training data")
    add = parser.add_argument
    add(
        "--output-file",
        type=location,
        metavar="FILE",
        help="also write the scores to this file",
    )
    add(
        "--predictions-output-file",
        type=location,
        metavar="FILE",
        help="also write the predictions: for the official scorer (squad, srl, coref, ner), as JSON lines (snli, sst),"
        " else in AllenNLP's format",
    )
    add(
        "--batch-size",
        type=number(Size),
        metavar="N",
        help="batch size (default: that of the config); changes no scores, except the perplexity of a language model",
    )
    parser.set_defaults(func=evaluate)


def evaluate(args: argparse.Namespace) -> None:
    """Print the scores, after a check of the options."""
    from elmo_tasks.elmo.devices import cuda_number, opened_device
    from elmo_tasks.training.archives.loading import load_archive, score

    device = cuda_number(opened_device(args.device))
    if not args.input_file:
        raise InputError("expected a file to evaluate, got an empty name")
    read = model_files(args)
    read.append(args.input_file)
    named = (args.output_file, args.predictions_output_file)
    outputs = [file for file in named if file]
    require_distinct(outputs)
    for output in outputs:
        check_output_path(output, read=read, device=True, format=PLAIN)
    archive = load_archive(
        args.archive_file,
        cuda_device=device,
        overrides=args.overrides,
        allow_downloads=args.allow_downloads,
    )
    with TemporaryDirectory() as folder:
        predictions = None
        if args.predictions_output_file:
            predictions = Path(folder) / Path(args.predictions_output_file).name
        scores = score(
            archive,
            args.input_file,
            batch_size=args.batch_size,
            predictions=predictions,
        )
        if args.predictions_output_file:
            target = Path(args.predictions_output_file)
            _write_predictions(Path(folder), target, read, args.output_file)
    text = json.dumps(scores, indent=2)
    if args.output_file:
        write_text(args.output_file, text)
    print(text)


def _write_predictions(
    folder: Path, predictions: Path, read: Sequence[str | Path], scores: str | None
) -> None:
    """
    Copies the predictions in a folder, and the second file that official scorers need,
    to the folder of `predictions`. Raises `InputError`, before anything is written, if
    a file of somebody else would be replaced, or is also that of the scores.
    """
    written = sorted(folder.iterdir())
    targets: list[str | Path] = [predictions.with_name(file.name) for file in written]
    if scores:
        targets.append(scores)
    require_distinct(targets)
    is_new = not predictions.exists()
    for file in written:
        target = predictions.with_name(file.name)
        check_output_path(target, read=read, device=True)
        if target != predictions and is_new and target.exists():
            raise InputError(
                f"the file exists, but {predictions}, to which it belongs, does not",
                file=target,
                hint="name another --predictions-output-file",
            )
    for file in written:
        with atomic_write(predictions.with_name(file.name)) as aside:
            shutil.copyfile(file, aside)
