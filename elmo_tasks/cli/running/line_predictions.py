"""Predictions line by line, for `elmo-tasks predict`."""

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from typing import Any

from allennlp.common.util import lazy_groups_of
from allennlp.predictors import Predictor

from elmo_tasks.cli.arguments import STANDARD_INPUT
from elmo_tasks.errors import InputError, in_one_line
from elmo_tasks.formats.fetching.fetch import local_path
from elmo_tasks.formats.text.text_files import decode_line, open_binary, raw_lines
from elmo_tasks.system.files import atomic_write
from elmo_tasks.system.terminal import terminal_bar


@dataclass
class Line:
    """
    A line of input that is not blank: its number, counted from 1, its data, and its
    prediction as JSON, or why it has none.
    """

    number: int
    data: Any = None
    prediction: str = ""
    error: str | None = None


def write_predictions(
    predictor: Predictor,
    file: str,
    output_file: str | None = None,
    *,
    batch_size: int = 1,
) -> None:
    """
    Writes a JSON object for each line of JSON lines that is not blank, in order, to a
    file, else to stdout.

    That of an invalid line is `{"line": 17, "error": "..."}`. Lines are read and
    predictions written as they come; the output file appears when it is complete.

    Raises `InputError` at the end, if a line was invalid; earlier, if the output cannot
    be written, which is then unchanged.
    """
    lines = _predicted(predictor, file, batch_size)
    errors = 0
    with ExitStack() as opened:
        output = sys.stdout
        if output_file is not None:
            aside = opened.enter_context(atomic_write(output_file))
            output = opened.enter_context(aside.open("w", encoding="utf-8"))
            lines = terminal_bar(iterable=lines, unit=" lines", leave=False)
        for line in lines:
            shown = line.prediction.rstrip("\n")
            if line.error is not None:
                shown = json.dumps({"line": line.number, "error": line.error})
                errors += 1
            print(shown, file=output)
    if errors:
        raise InputError(f"{errors} of the lines could not be used, see the output")


def _predicted(predictor: Predictor, file: str, batch_size: int) -> Iterator[Line]:
    for batch in lazy_groups_of(_read(predictor, file), batch_size):
        _predict(predictor, [line for line in batch if line.error is None])
        yield from batch


def _read(predictor: Predictor, file: str) -> Iterator[Line]:
    number = 0
    opening: AbstractContextManager[Any]
    if file != STANDARD_INPUT:
        opening = open_binary(local_path(file))
    elif sys.stdin is None:
        raise InputError("expected lines on the standard input, but it is closed")
    else:
        opening = nullcontext(sys.stdin.buffer)
    with opening as opened:
        try:
            for number, raw in raw_lines(opened, file):
                if not raw.isspace():
                    yield _load(predictor, number, raw, file)
        except InputError as error:  # the rest cannot be read
            yield Line(number + 1, error=str(error))


def _load(predictor: Predictor, number: int, raw: bytes, file: str) -> Line:
    try:
        return Line(number, predictor.load_line(decode_line(raw, file, number)))
    except Exception as error:
        return Line(number, error=in_one_line(error))


def _predict(predictor: Predictor, lines: Sequence[Line]) -> None:
    """
    Sets predictions. If a batch fails, its lines are predicted one by one, and errors
    are set.
    """
    if not lines:
        return
    try:
        if len(lines) == 1:
            outputs = [predictor.predict_json(lines[0].data)]
        else:
            outputs = predictor.predict_batch_json([line.data for line in lines])
        for line, output in zip(lines, outputs, strict=True):
            line.prediction = predictor.dump_line(output)
    except Exception as error:
        if len(lines) == 1:
            lines[0].error = in_one_line(error)
            return
        for line in lines:
            _predict(predictor, [line])
