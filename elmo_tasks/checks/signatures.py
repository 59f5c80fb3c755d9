"""Which keys a constructor takes: its own, and those that `**kwargs` hands on to other constructors."""

import ast
import functools
import inspect
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from inspect import Parameter
from typing import Any

from allennlp.common import from_params
from torch import nn

UNBOUND = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)


@dataclass(frozen=True)
class Keys:
    """
    # Parameters

    parameters : `dict[str, Parameter]`
        What a config may set. The annotation is empty where AllenNLP hands the value on as it stands.
    is_open : `bool`
        Whether `**kwargs` goes where it cannot be followed, so that any other key may be known there.
    """

    parameters: dict[str, Parameter] = field(default_factory=dict)
    is_open: bool = False

    def without(self, names: set[str]) -> "Keys":
        """These keys but for some."""
        return Keys({name: one for name, one in self.parameters.items() if name not in names}, self.is_open)


OPEN = Keys(is_open=True)


@dataclass(frozen=True)
class Choice:
    """
    What a config constructs.

    # Parameters

    cls, constructor
        The class, and its `__init__` or a class method.
    is_plain : `bool`
        Whether AllenNLP gives the keys to it as they are, converting nothing.
    is_registered : `bool`
        Whether it is chosen by the key `type`.
    """

    cls: Any
    constructor: Callable[..., Any]
    is_plain: bool = False
    is_registered: bool = False

    @property
    def is_ours(self) -> bool:
        """Whether the class is one of this package."""
        return str(self.cls.__module__).split(".")[0] == __name__.split(".")[0]

    def keys(self) -> Keys:
        """What a config may set."""
        return plain_keys(self.constructor) if self.is_plain else keys_of(self.cls, self.constructor)


def keys_of(cls: type, constructor: Callable[..., Any]) -> Keys:
    """
    # Parameters

    cls : `type`
        What is constructed.
    constructor : `Callable`
        Its `__init__`, or the class method that it is registered with.
    """
    found = _followed(cls, constructor)
    read = from_params.infer_method_params(cls, constructor)  # what AllenNLP constructs from the config
    if found.is_open:
        known = {name: one for name, one in read.items() if name != "self" and one.kind not in UNBOUND}
        return Keys({**found.parameters, **known}, is_open=True)
    parameters = {
        name: one if name in read else one.replace(annotation=Parameter.empty) for name, one in found.parameters.items()
    }
    return Keys(parameters)


def plain_keys(factory: Callable[..., Any]) -> Keys:
    """What a class or function takes that AllenNLP calls with the config's keys as they are."""
    try:
        return _split(inspect.signature(factory))[0]
    except (TypeError, ValueError):
        return OPEN


def lazy_extras(constructor: Callable[..., Any], argument: str) -> frozenset[str] | None:
    """
    What a constructor hands to `argument.construct(...)`; `None` where that cannot be seen.
    """
    tree = _tree(constructor)
    if tree is None:
        return None
    extras: set[str] = set()
    for _, parents in _uses(tree, argument):
        call = parents[1] if len(parents) > 1 else None
        attribute = parents[0]
        if isinstance(attribute, ast.Compare):
            continue
        if not (isinstance(attribute, ast.Attribute) and attribute.attr == "construct" and isinstance(call, ast.Call)):
            return None
        if call.func is not attribute or any(keyword.arg is None for keyword in call.keywords):
            return None
        extras |= {keyword.arg for keyword in call.keywords if keyword.arg}
    return frozenset(extras) if extras else None


def _split(signature: inspect.Signature) -> tuple[Keys, str | None]:
    """The named parameters, and the name of `**kwargs`."""
    parameters = {name: one for name, one in signature.parameters.items() if one.kind not in UNBOUND}
    rest = [name for name, one in signature.parameters.items() if one.kind is Parameter.VAR_KEYWORD]
    return Keys(parameters, is_open=bool(rest)), rest[0] if rest else None


def _followed(cls: type, constructor: Callable[..., Any]) -> Keys:
    function = getattr(constructor, "__func__", constructor)
    if function in (object.__init__, nn.Module.__init__):
        return Keys()
    own, rest = _split(inspect.signature(function))
    first = next(iter(own.parameters), None)
    own = own.without({first} if first else set())  # self or cls
    if rest is None:
        return own
    tree = _tree(function)
    owner = _owner(cls, function)
    if tree is None or owner is None:
        return Keys(own.parameters, is_open=True)
    others = list(_destinations(cls, owner, tree, rest, first))
    parameters = dict(own.parameters)
    for keys in others:
        parameters |= {name: one for name, one in keys.parameters.items() if name not in parameters}
    return Keys(parameters, is_open=any(keys.is_open for keys in others))


def _owner(cls: type, function: Callable[..., Any]) -> type | None:
    """The class that defines the function, `cls` or one it inherits from."""
    for base in cls.__mro__:
        if any(getattr(member, "__func__", member) is function for member in vars(base).values()):
            return base
    return None


def _destinations(cls: type, owner: type, tree: ast.AST, rest: str, first: str | None) -> Iterator[Keys]:
    """What each use of `**kwargs` makes of its keys."""
    for name, parents in _uses(tree, rest):
        yield _destination(cls, owner, name, parents, first)


def _destination(cls: type, owner: type, name: ast.Name, parents: list[ast.AST], first: str | None) -> Keys:
    if _is_refused(name, parents):
        return Keys()
    parent = parents[0]
    if (key := _constant_key(name, parent, parents)) is not None:
        return Keys({key: Parameter(key, Parameter.KEYWORD_ONLY, default=None)})
    if not (isinstance(parent, ast.keyword) and parent.arg is None and isinstance(parents[1], ast.Call)):
        return OPEN
    call = parents[1]
    target = _target(cls, owner, call.func, first)
    if target is None or any(isinstance(argument, ast.Starred) for argument in call.args):
        return OPEN
    taken = _followed(cls, target)
    positional = set(list(taken.parameters)[: len(call.args)])
    return taken.without(positional | {keyword.arg for keyword in call.keywords if keyword.arg})


def _is_refused(name: ast.Name, parents: list[ast.AST]) -> bool:
    """Whether the use is part of `if kwargs: raise ...`."""
    for node in parents:
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == name.id:
            return isinstance(node.body[-1], ast.Raise)
    return False


def _constant_key(name: ast.Name, parent: ast.AST, parents: list[ast.AST]) -> str | None:
    """The key of `kwargs["key"]`, `"key" in kwargs`, `kwargs.get("key")` and `kwargs.pop("key")`."""
    constant: ast.AST | None = None
    if isinstance(parent, ast.Subscript) and parent.value is name:
        constant = parent.slice
    elif isinstance(parent, ast.Compare) and isinstance(parent.ops[0], ast.In | ast.NotIn):
        constant = parent.left
    elif isinstance(parent, ast.Attribute) and parent.attr in ("get", "pop") and isinstance(parents[1], ast.Call):
        constant = parents[1].args[0] if parents[1].args else None
    return constant.value if isinstance(constant, ast.Constant) and isinstance(constant.value, str) else None


def _target(cls: type, owner: type, function: ast.expr, first: str | None) -> Callable[..., Any] | None:
    """What is called: `cls(...)`, or a method of `super()`."""
    if isinstance(function, ast.Name) and function.id == first:
        return cls.__init__  # type: ignore[misc]
    if not (isinstance(function, ast.Attribute) and isinstance(function.value, ast.Call)):
        return None
    inner = function.value
    if not (isinstance(inner.func, ast.Name) and inner.func.id == "super"):
        return None
    behind = cls.__mro__[cls.__mro__.index(owner) + 1 :]
    for base in behind:
        if function.attr in vars(base):
            member = vars(base)[function.attr]
            return getattr(member, "__func__", member)
    return None


@functools.cache
def _tree(function: Callable[..., Any]) -> ast.AST | None:
    try:
        return ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function))))
    except (OSError, TypeError, SyntaxError):
        return None


def _uses(tree: ast.AST, name: str) -> Iterator[tuple[ast.Name, list[ast.AST]]]:
    """Where a name is used, each with the nodes around it, the nearest first."""

    def visit(node: ast.AST, parents: list[ast.AST]) -> Iterator[tuple[ast.Name, list[ast.AST]]]:
        if isinstance(node, ast.Name) and node.id == name:
            yield node, parents
        for child in ast.iter_child_nodes(node):
            yield from visit(child, [node, *parents])

    return visit(tree, [])
