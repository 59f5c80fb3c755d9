"""Arguments whose types are joined with a bar."""

import json

from allennlp.common import FromParams, Lazy, Params, Registrable

from elmo_tasks.compat.annotations import old_style


class Part(Registrable):
    pass


@Part.register("half")
class Half(Part):
    def __init__(self, size: int = 1) -> None:
        self.size = size


class Whole(FromParams):
    def __init__(
        self,
        one: Part | None = None,
        many: dict[str, list[str | Part]] | None = None,
        later: Lazy[Part] | None = None,
        rate: float | list[float] = 0.1,
    ) -> None:
        self.parts = [one, *(part for group in (many or {}).values() for part in group)]
        self.later = later
        self.rate = rate


def test_arguments_written_with_a_bar_are_constructed() -> None:
    half = '{"type": "half", "size": 2}'
    text = f'{{"one": {half}, "many": {{"a": [{half}, "x"]}}, "later": {half}, "rate": [1.0, 2.0]}}'
    whole = Whole.from_params(Params(json.loads(text)))
    assert [type(part) for part in whole.parts] == [Half, Half, str]
    assert isinstance(whole.later, Lazy) and whole.later.construct().size == 2
    assert whole.rate == [1.0, 2.0]


def test_arguments_written_with_a_bar_may_be_left_out() -> None:
    whole = Whole.from_params(Params({"one": None}))
    assert (whole.parts, whole.later, whole.rate) == ([None], None, 0.1)


def test_a_string_annotation_is_out_of_reach() -> None:
    assert old_style("Part | None") == "Part | None"
    assert repr(old_style(Part | None)) == "typing.Optional[tests.compat.test_annotations.Part]"
