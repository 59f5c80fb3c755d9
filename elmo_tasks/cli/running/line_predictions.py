"""Predictions line by line, for `elmo-tasks predict`."""

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from allennlp.commands import predict as allennlp_predict
from allennlp.common.util import lazy_groups_of
from allennlp.predictors import Predictor
from overrides import overrides

from elmo_tasks.cli.arguments import STANDARD_INPUT
from elmo_tasks.errors import InputError, one_line
from elmo_tasks.formats.fetching.fetch import local_path
from elmo_tasks.formats.text.text_files import lines_of, open_binary
from elmo_tasks.system.files import atomic_write
from elmo_tasks.system.terminal import terminal_bar


@dataclass
class Line:
    """
    A line of input that is not blank: its number, counted from 1, and its data, or why
    it has no prediction.
    """

    number: int
    data: Any = None
    error: str | None = None


class LinePredictions(allennlp_predict._PredictManager):
    """
    Predictions for JSON lines, in order, one line of output for each line of input that
    is not blank.

    The output for an invalid line is `{"line": 17, "error": "..."}`. Lines are read and
    predictions written as they come; the output file appears when it is complete.

    Raises `InputError` at the end, if a line was invalid; earlier, if the output cannot
    be written or the dataset reader fails; the output file is then unchanged.
    """

    def __init__(
        self,
        predictor: Predictor,
        input_file: str,
        output_file: str | None,
        *options: Any,
    ) -> None:
        super().__init__(predictor, input_file, None, *options)
        self._path = output_file

    @overrides
    def run(self) -> None:
        """Predict and write."""
        if self._path is None:
            errors = self._run()
        else:
            with (
                atomic_write(self._path) as aside,
                aside.open("w", encoding="utf-8") as self._output_file,
            ):
                errors = self._run()
        if errors:
            raise InputError(f"{errors} of the lines could not be used, see the output")

    def _run(self) -> int:
        """The number of invalid lines."""
        if self._dataset_reader is not None:
            super().run()
            return 0
        errors = 0
        lines: Iterable[Line] = self._lines()
        if not self._print_to_console:
            lines = terminal_bar(iterable=lines, unit=" lines", leave=False)
        for batch in lazy_groups_of(lines, self._batch_size):
            valid = [line for line in batch if line.error is None]
            predictions = self._predictions(valid)
            for line in batch:
                invalid = json.dumps({"line": line.number, "error": line.error}) + "\n"
                output = predictions.get(line.number, invalid)
                given = None
                if self._print_to_console:
                    given = json.dumps(line.data)
                self._maybe_print_to_console_and_file(line.number, output, given)
                if line.error is not None:
                    errors += 1
        return errors

    def _lines(self) -> Iterator[Line]:
        number = 0
        name = self._input_file
        if name == STANDARD_INPUT and sys.stdin is None:
            raise InputError("expected lines on the standard input, but it is closed")
        opening: AbstractContextManager[Any]
        if name == STANDARD_INPUT:
            opening = nullcontext(sys.stdin.buffer)
        else:
            opening = open_binary(local_path(name))
        with opening as opened:
            try:
                for number, text in lines_of(opened, name):
                    if isinstance(text, InputError):
                        yield Line(number, error=str(text))
                    elif text and not text.isspace():
                        yield self._load(number, text)
            except InputError as error:  # the rest cannot be read
                yield Line(number + 1, error=str(error))

    def _load(self, number: int, text: str) -> Line:
        try:
            return Line(number, self._predictor.load_line(text))
        except Exception as error:
            return Line(number, error=_message(error))

    def _predictions(self, lines: Sequence[Line]) -> dict[int, str]:
        """
        Outputs by number. If a batch fails, its lines are predicted one by one, and
        errors are set.
        """
        if not lines:
            return {}
        try:
            outputs = list(self._predict_json([line.data for line in lines]))
        except Exception as error:
            if len(lines) == 1:
                lines[0].error = _message(error)
                return {}
            alone: dict[int, str] = {}
            for line in lines:
                alone |= self._predictions([line])
            return alone
        numbers = [line.number for line in lines]
        return dict(zip(numbers, outputs, strict=True))


def _message(error: Exception) -> str:
    return one_line(error) or f"{type(error).__name__}: {error}"
