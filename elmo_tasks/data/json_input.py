"""What every task's predictor shares: JSON lines in, each fault of theirs one clear error."""

import json
from typing import Any, cast

from allennlp.common.util import JsonDict
from allennlp.data import Instance
from allennlp.data.fields import MetadataField
from allennlp.predictors import Predictor

from elmo_tasks.errors import InputError

_SHOWN = 60


class JsonLinesPredictor(Predictor):
    """
    A predictor whose input file holds one JSON object a line. A child names the fields with the gold answers, which the
    model does not get, and may reshape the model's output.
    """

    gold_fields: tuple[str, ...] = ()
    """What instances of the reader lose: nothing is scored here, and gold labels may be unknown to the model."""

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

    def predict_instance(self, instance: Instance) -> JsonDict:
        """Runs the model on one instance, from this predictor or from the reader."""
        return self.result(instance, super().predict_instance(self.without_gold(instance)))

    def predict_batch_instance(self, instances: list[Instance]) -> list[JsonDict]:
        """Runs the model on a batch of instances; the order is kept."""
        outputs = super().predict_batch_instance([self.without_gold(one) for one in instances])
        return [self.result(*pair) for pair in zip(instances, outputs, strict=True)]

    def without_gold(self, instance: Instance) -> Instance:
        """The instance without its `gold_fields`."""
        return Instance({name: field for name, field in instance.items() if name not in self.gold_fields})

    def result(self, instance: Instance, outputs: JsonDict) -> JsonDict:
        """What is shown of the model's output for an instance."""
        return outputs


def metadata_of(instance: Instance) -> dict[str, Any]:
    """What an instance's field `metadata` holds."""
    return cast(MetadataField, instance["metadata"]).metadata


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
