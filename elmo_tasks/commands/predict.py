"""`allennlp predict`: AllenNLP's, which goes on behind a line that it cannot use, and does not lose what is there."""

import argparse
import functools
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any, cast

from allennlp.commands import predict as allennlp_predict
from allennlp.common.file_utils import cached_path
from allennlp.common.util import lazy_groups_of
from allennlp.predictors import Predictor

from elmo_tasks.atomic import atomic_write, check_output_path
from elmo_tasks.compat.terminal import one_line
from elmo_tasks.data.files import lines_of
from elmo_tasks.errors import InputError

STANDARD_INPUT = "-"
SHOWN_FAULTS = 10
"""How many of the lines that cannot be used are told on stderr; the output tells of all."""


@dataclass
class Line:
    """
    A line of input that is not blank.

    # Parameters

    number : `int`
        Its place in the file, counted from 1; blank lines count.
    data : `Any`
        What it holds.
    fault : `str`, optional
        Why there is no prediction.
    """

    number: int
    data: Any = None
    fault: str | None = None

    def told(self) -> str:
        """What stands in the output for a line that could not be used."""
        return json.dumps({"line": self.number, "error": self.fault}) + "\n"


def improve_predict() -> None:
    """
    Lets AllenNLP's command look at its options first, and take `LinePredictions` for its loop.

    A command of this name cannot be replaced: AllenNLP has chosen its own before it imports plugins.
    """
    if allennlp_predict._PredictManager is LinePredictions:
        return
    allennlp_predict._get_predictor = functools.partial(_checked, allennlp_predict._get_predictor)
    allennlp_predict._PredictManager = LinePredictions


def _checked(get_predictor: Callable[[argparse.Namespace], Predictor], args: argparse.Namespace) -> Predictor:
    """
    The predictor, for options that make sense.

    # Raises

    `InputError`
        If one makes none, before the model is loaded.
    """
    _check(args)
    return get_predictor(args)


def _check(args: argparse.Namespace) -> None:
    if args.silent and not args.output_file:
        raise InputError("--silent without --output-file leaves no place for the predictions")
    if args.batch_size < 1:
        raise InputError(f"--batch-size must be at least 1, found {args.batch_size}")
    read = [args.archive_file, *_input_files(args)]
    if args.output_file:
        check_output_path(args.output_file, read=read, device=True)


def _input_files(args: argparse.Namespace) -> list[str | Path]:
    if args.input_file == STANDARD_INPUT:
        return []
    if args.use_dataset_reader:
        return [args.input_file]  # a pattern, maybe, or whatever else the reader's paths are
    file = Path(cached_path(args.input_file))
    if file.is_dir():
        raise InputError("a file was wanted, this is a folder", file=file)
    return [file]


class LinePredictions(allennlp_predict._PredictManager):
    """
    Predictions for JSON lines, in their order; the output has a line for each line of input that is not blank.

    A line that is no text or no JSON, or that the predictor cannot use, has `{"line": 17, "error": "..."}` in its
    place, and does not stop the others, not even those of its batch. Lines are read as they are needed, and predictions
    written as they come, into a file that takes its name when the last is there.

    # Raises

    `InputError`
        When all is written, if a line could not be used; in the midst of it, if the output cannot be written, or the
        dataset reader finds a fault: what stood under the output's name is untouched then.
    """

    def __init__(self, predictor: Predictor, input_file: str, output_file: str | None, *options: Any) -> None:
        super().__init__(predictor, input_file, None, *options)
        self._path = output_file

    def run(self) -> None:
        """Predicts and writes."""
        if self._path is None:
            faults = self._run()
        else:
            with atomic_write(self._path) as aside, aside.open("w", encoding="utf-8") as self._output_file:
                faults = self._run()
        if faults:
            raise InputError(f"{faults} of the lines could not be used, which the output tells in their places")

    def _run(self) -> int:
        """How many lines could not be used."""
        if self._dataset_reader is not None:
            super().run()
            return 0
        faults = 0
        for batch in lazy_groups_of(self._lines(), self._batch_size):
            for line, result in zip(batch, self._results(batch), strict=True):
                given = json.dumps(line.data) if self._print_to_console else None
                self._maybe_print_to_console_and_file(line.number, result, given)
                if line.fault is not None and (faults := faults + 1) <= SHOWN_FAULTS:
                    sys.stderr.write(f"line {line.number}: {line.fault}\n")
        return faults

    def _lines(self) -> Iterator[Line]:
        number = 0
        with _opened(self._input_file) as opened:
            try:
                for number, text in lines_of(opened, self._input_file):
                    if isinstance(text, InputError):
                        yield Line(number, fault=str(text))
                    elif text and not text.isspace():
                        yield self._loaded(number, text)
            except InputError as error:
                yield Line(number + 1, fault=str(error))

    def _loaded(self, number: int, text: str) -> Line:
        try:
            return Line(number, self._predictor.load_line(text))
        except Exception as error:
            return Line(number, fault=_message(error))

    def _results(self, batch: Sequence[Line]) -> list[str]:
        """A line of output for each."""
        predictions = self._predictions([line for line in batch if line.fault is None])
        return [predictions.get(line.number) or line.told() for line in batch]

    def _predictions(self, lines: Sequence[Line]) -> dict[int, str]:
        """By number, without those that have a fault, which is noted; lines that fail together are tried one by one."""
        if not lines:
            return {}
        try:
            outputs = list(self._predict_json([line.data for line in lines]))
        except Exception as error:
            if len(lines) == 1:
                lines[0].fault = _message(error)
                return {}
            return {number: output for line in lines for number, output in self._predictions([line]).items()}
        return {line.number: output for line, output in zip(lines, outputs, strict=True)}


@contextmanager
def _opened(name: str) -> Iterator[BufferedReader]:
    """A file, or what comes by standard input."""
    if name == STANDARD_INPUT:
        yield cast(BufferedReader, sys.stdin.buffer)
        return
    with open(cached_path(name), "rb") as opened:
        yield opened


def _message(error: Exception) -> str:
    """A mistake of the user's as it is told everywhere, any other with its kind."""
    return one_line(error) or f"{type(error).__name__}: {error}"
