"""
Which keys of a row's config nobody knows: neither the base nor the constructor that the key would reach.

AllenNLP takes an override of a key that the config lacks for a new key, and its trainer and some other constructors
take any keyword: a misspelt change would be the unchanged base under another name.
"""

import types
from collections.abc import Iterator, Mapping
from inspect import Parameter
from typing import Any, Union, get_args, get_origin

from allennlp.commands.train import TrainModel
from allennlp.common import FromParams, Lazy, Registrable
from allennlp.common.checks import ConfigurationError
from allennlp.common.from_params import infer_method_params

from elmo_tasks.ablation.nearest import not_known

BESIDE_THE_CONSTRUCTOR = (
    "random_seed",
    "numpy_seed",
    "pytorch_seed",
    "distributed",
    "evaluation",
    "include_in_archive",
)
"""Keys of a whole config that AllenNLP takes before it constructs anything."""


def unknown_keys(config: dict[str, Any], base: dict[str, Any]) -> list[str]:
    """
    The dotted keys of a config that are neither in its base nor known to a constructor, with the nearest known name.

    # Parameters

    config, base : `dict[str, Any]`
        Both resolved.
    """
    known = _parameters(TrainModel, "from_partial_objects")
    known |= dict.fromkeys(BESIDE_THE_CONSTRUCTOR, Parameter.empty)
    return list(_unknown(config, base, known, prefix=""))


def _unknown(config: dict[str, Any], base: object, known: Mapping[str, Any] | None, *, prefix: str) -> Iterator[str]:
    of_base = base if isinstance(base, dict) else {}
    for key, value in config.items():
        if key not in of_base and key != "type" and known is not None and key not in known:
            yield prefix + not_known(key, {*known, *of_base})
        else:
            annotation = Parameter.empty if known is None else known.get(key, Parameter.empty)
            yield from _within(value, of_base.get(key), annotation, prefix=f"{prefix}{key}.")


def _within(value: object, base: object, annotation: Any, *, prefix: str) -> Iterator[str]:
    if isinstance(value, dict):
        yield from _unknown(value, base, _known(annotation, value), prefix=prefix)
    elif isinstance(value, list):
        of_base = base if isinstance(base, list) else []
        for place, item in enumerate(value):
            other = of_base[place] if place < len(of_base) else None
            yield from _within(item, other, _item(annotation), prefix=f"{prefix}{place}.")


def _known(annotation: Any, value: dict[str, Any]) -> Mapping[str, Any] | None:
    """The parameters of the constructor that gets this object, by name; None where any key is allowed."""
    annotation = _bare(annotation)
    if get_origin(annotation) in (dict, Mapping):
        return dict.fromkeys(value, get_args(annotation)[1])
    if not isinstance(annotation, type) or not issubclass(annotation, FromParams):
        return None
    try:
        cls, constructor = _chosen(annotation, value.get("type"))
    except ConfigurationError:
        return None  # a wrong type: constructing says which there are
    return _parameters(cls, constructor or "__init__")


def _chosen(annotation: Any, type_: str | None) -> tuple[type, str | None]:
    if not issubclass(annotation, Registrable) or annotation not in Registrable._registry:
        return annotation, None
    name = type_ or annotation.default_implementation
    return (annotation, None) if name is None else annotation.resolve_class_name(name)


def _parameters(cls: type, constructor: str) -> dict[str, Any]:
    found = infer_method_params(cls, getattr(cls, constructor))
    wild = (Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL)
    return {name: p.annotation for name, p in found.items() if name not in ("self", "cls") and p.kind not in wild}


def _bare(annotation: Any) -> Any:
    """Without `Lazy` and `None`; of a union of several others, nothing is known."""
    if get_origin(annotation) is Lazy:
        return _bare(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        kept = [part for part in get_args(annotation) if part is not type(None)]
        return _bare(kept[0]) if len(kept) == 1 else Parameter.empty
    return annotation


def _item(annotation: Any) -> Any:
    annotation = _bare(annotation)
    arguments = get_args(annotation)
    return arguments[0] if get_origin(annotation) in (list, tuple) and arguments else Parameter.empty
