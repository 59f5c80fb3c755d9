"""`elmo-tasks predict`: predictions of a trained model for the lines of a file."""

import argparse

from elmo_tasks.cli.arguments import STANDARD_INPUT, add_model, location, model_files
from elmo_tasks.errors import InputError
from elmo_tasks.settings import Size, number
from elmo_tasks.system.files import PLAIN, check_output_path

DESCRIPTION = (
    "Print a JSON object with the prediction for each line of FILE, a JSON object. That of an invalid line has an error"
    " message, and the exit status is then 1."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `elmo-tasks predict ARCHIVE FILE`."""
    add_model(parser, "a file of JSON lines; - reads standard input")
    add = parser.add_argument
    add(
        "--output-file",
        type=location,
        metavar="FILE",
        help="write the predictions to this file instead of printing them",
    )
    add(
        "--batch-size",
        type=number(Size),
        default=1,
        metavar="N",
        help="lines in a batch (default: 1)",
    )
    add("--predictor", metavar="NAME", help="use this predictor instead of the model's")
    parser.set_defaults(func=predict)


def predict(args: argparse.Namespace) -> None:
    """
    Predict line by line. Raises `InputError` for invalid options before the model is
    loaded.
    """
    from elmo_tasks.cli.running.line_predictions import write_predictions
    from elmo_tasks.elmo.devices import cuda_number, opened_device
    from elmo_tasks.formats.text.text_files import open_binary
    from elmo_tasks.training.archives.loading import (
        explained,
        load_archive,
        spacy_downloads,
    )
    from elmo_tasks.training.archives.predictors import default_predictor, predictor_of

    file = args.input_file
    if file != STANDARD_INPUT and "://" not in file:
        open_binary(file).close()
    if args.output_file:
        read = [*model_files(args), file]
        check_output_path(args.output_file, read=read, device=True, format=PLAIN)
    device = cuda_number(opened_device(args.device))
    archive = load_archive(
        args.archive_file,
        cuda_device=device,
        overrides=args.overrides,
        allow_downloads=args.allow_downloads,
    )
    _require_predictor(args.predictor, default_predictor(archive))
    with explained(args.archive_file):
        predictor = predictor_of(
            archive, args.predictor, allow_downloads=args.allow_downloads
        )
    with spacy_downloads(allowed=args.allow_downloads):  # some load it at a text
        write_predictions(
            predictor,
            file,
            args.output_file,
            batch_size=args.batch_size,
        )


def _require_predictor(given: str | None, default: str | None) -> None:
    """
    Raises `InputError` if neither `--predictor` nor the model names a registered
    predictor.
    """
    from allennlp.predictors import Predictor

    name = given or default
    known = Predictor.list_available()
    if name in known or (given and "." in given):
        return
    problem = "expected --predictor NAME, since the model has no default predictor"
    if name:
        problem = f"expected a registered predictor, got {name!r}"
    hint = f"registered: {', '.join(sorted(known))}; --include-package registers more"
    raise InputError(problem, hint=hint)
