"""What every task's predictor shares: JSON lines in, each fault of theirs one clear error."""

import json
from typing import Any

from allennlp.common.util import JsonDict
from allennlp.predictors import Predictor

from elmo_tasks.errors import InputError

_SHOWN = 60


class JsonLinesPredictor(Predictor):
    """A predictor whose input file holds one JSON object a line."""

    def load_line(self, line: str) -> JsonDict:
        """
        # Raises

        `InputError`
            If the line is not JSON.
        """
        try:
            return json.loads(line)
        except json.JSONDecodeError as error:
            found = f"found {shown(line.strip())}: {error.msg} at character {error.colno}"
            raise InputError(f"one JSON object a line was wanted, {found}") from None


def shown(value: Any) -> str:
    """A value as an error message shows it: at most 60 characters of its `repr`."""
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def text_of(json_dict: Any, key: str, *, wanted: str) -> str:
    """
    The text under a key.

    # Parameters

    json_dict : `Any`
        What a line of input held.
    key : `str`
    wanted : `str`
        How an input looks, for the messages.

    # Raises

    `InputError`
        If it is not an object with that key, or what stands there is not a string or blank.
    """
    if not isinstance(json_dict, dict):
        raise InputError(f"{wanted}; found {shown(json_dict)}")
    if key not in json_dict:
        raise InputError(f"{wanted}; found no {key!r}, but {sorted(json_dict)}")
    if not isinstance(json_dict[key], str):
        raise InputError(f"{key!r} must be a string; found {shown(json_dict[key])}")
    if not json_dict[key].strip():
        raise InputError(f"{key!r} is empty: it needs a word at least; found {shown(json_dict)}")
    return json_dict[key]
