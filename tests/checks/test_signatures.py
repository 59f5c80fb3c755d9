"""Which keys a constructor takes, whatever becomes of its `**kwargs`."""

from typing import Any

import pytest
from allennlp.common import Lazy, Registrable
from allennlp.data import DatasetReader
from allennlp.training import GradientDescentTrainer
from torch import nn

from elmo_tasks.checks.signatures import keys_of, lazy_extras, plain_keys
from elmo_tasks.ner.model import NerTagger


class Base(Registrable):
    def __init__(self, a: int, b: int = 1) -> None:
        self.sum = a + b


class HandsOn(Base):
    def __init__(self, c: int, **rest: Any) -> None:
        super().__init__(a=c, **rest)


class HandsOnTwice(HandsOn):
    def __init__(self, d: int = 0, **kwargs: Any) -> None:
        super().__init__(**kwargs)


class Inherits(HandsOn):
    pass


class Swallows(Base):
    def __init__(self, c: int = 0, **kwargs: Any) -> None:
        super().__init__(a=c)


class Refuses(Base):
    def __init__(self, c: int = 0, **unknown: Any) -> None:
        if unknown:
            raise ValueError(f"what is {', '.join(unknown)}?")
        super().__init__(a=c)


class Picks(Base):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(a=kwargs["e"], b=kwargs.pop("f", 1))
        self.other = kwargs.get("g") if "h" in kwargs else None


class Hides(Base):
    def __init__(self, c: int = 0, **kwargs: Any) -> None:
        super().__init__(a=c)
        self.options = dict(kwargs)


class HidesBelow(Hides):
    def __init__(self, d: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)


class ByMethod(Base):
    def __init__(self, a: int, own: int = 3) -> None:
        super().__init__(a)
        self.own = own

    @classmethod
    def build(cls, x: int, **kwargs: Any) -> "ByMethod":
        return cls(x, **kwargs)


@pytest.mark.parametrize(
    ("cls", "names", "is_open"),
    [
        (Base, {"a", "b"}, False),
        (HandsOn, {"b", "c"}, False),
        (HandsOnTwice, {"b", "c", "d"}, False),
        (Inherits, {"b", "c"}, False),
        (Swallows, {"c"}, False),
        (Refuses, {"c"}, False),
        (Picks, {"e", "f", "g", "h"}, False),
        (Hides, {"a", "b", "c"}, True),
        (HidesBelow, {"a", "b", "c", "d"}, True),
    ],
)
def test_keys_of_a_constructor(cls: type, names: set[str], is_open: bool) -> None:
    keys = keys_of(cls, cls.__init__)  # type: ignore[misc]
    assert (set(keys.parameters), keys.is_open) == (names, is_open)


def test_a_class_method_hands_on_to_the_constructor() -> None:
    keys = keys_of(ByMethod, ByMethod.build)
    assert set(keys.parameters) == {"x", "own"} and not keys.is_open
    assert keys.parameters["own"].annotation is keys.parameters["own"].empty, "AllenNLP does not construct it"


def test_the_trainer_has_the_keys_that_it_reads() -> None:
    keys = keys_of(GradientDescentTrainer, GradientDescentTrainer.from_partial_objects)
    assert not keys.is_open
    assert {"num_epochs", "patience", "run_sanity_checks"} <= set(keys.parameters)
    assert not {"num_epoch", "kwargs", "ddp_wrapped_model"} & set(keys.parameters)


def test_a_task_model_has_those_of_its_base() -> None:
    keys = keys_of(NerTagger, NerTagger.__init__)
    assert not keys.is_open
    assert {"elmo", "encoder", "word_vectors", "regularizer"} <= set(keys.parameters)


def test_what_a_class_gives_its_base_itself_is_no_key() -> None:
    reader = DatasetReader.by_name("elmo_tasks_ner")
    assert "manual_distributed_sharding" not in keys_of(reader, reader.__init__).parameters  # type: ignore[arg-type, misc]


def test_keys_of_what_is_called_as_it_is() -> None:
    assert set(plain_keys(nn.LeakyReLU).parameters) == {"negative_slope", "inplace"}
    assert plain_keys(int).is_open, "it has no signature"


class Later:
    def __init__(self, one: Lazy[Base], two: Lazy[Base], three: Lazy[Base], four: Lazy[Base] | None = None) -> None:
        self.one = one.construct(a=1, b=2)
        self.two = two
        self.three = three.construct(**{"a": 1})
        self.four = None if four is None else four.construct(a=3)


def test_what_code_adds_to_a_lazy_argument() -> None:
    extras = [lazy_extras(Later.__init__, name) for name in ("one", "two", "three", "four")]
    assert extras == [frozenset("ab"), None, None, frozenset("a")]
