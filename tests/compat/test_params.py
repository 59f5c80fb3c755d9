"""Annotations `X | Y`, and paths that are not config files."""

from allennlp.common import FromParams, Lazy, Params, Registrable


class Part(Registrable):
    pass


@Part.register("half")
class Half(Part):
    def __init__(self, size: int = 1) -> None:
        self.size = size


class Whole(FromParams):
    def __init__(self, one: Part | None, many: dict[str, list[str | Part]] | None, later: Lazy[Part] | None) -> None:
        self.one, self.many, self.later = one, many, later


def test_unions_are_constructed() -> None:
    half = {"type": "half", "size": 2}
    whole = Whole.from_params(Params({"one": half, "many": {"a": [{**half}, "x"]}, "later": {**half}}))
    assert isinstance(whole.one, Half) and whole.many is not None
    assert [type(part) for part in whole.many["a"]] == [Half, str]
    assert isinstance(whole.later, Lazy) and whole.later.construct().size == 2
