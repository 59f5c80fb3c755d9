"""
The small language in which the tables of phrases and verb frames are written.

A pattern is a row of items separated by spaces:

- `harbour`: a word, whose tag is looked up in `lexicon.py`; `read/VBN` gives the tag outright, and
  `bank=river` the sense of a word that has several
- `{town}`: a slot, filled with an entity of that kind or by agreement with the subject (`{his}`)
- `&break`: a second verb, in the same form as the verb of the frame
- `(TMP at dawn)`: a role over what stands between the brackets; 1 and 2 stand for A1 and A2, other
  labels for adjuncts (AM-TMP and so on)

A verb frame is `lemma.sense` and the pattern that follows the verb, after any of the marks `*` (the
subject is A1, not A0; so it is for `be` anyway), `~` (a state: no perfect, present allowed) and `!` (no passive).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from elmo_tasks.errors import InputError

WORD = re.compile(r"(?P<text>[^/=\s]+)(=(?P<sense>\w+))?(/(?P<tag>[A-Z$]+))?(=(?P<late>\w+))?")


@dataclass(frozen=True)
class Word:
    """A word of a pattern; `tag` and `sense` are None where the pattern leaves them open."""

    text: str
    tag: str | None
    sense: str | None


@dataclass(frozen=True)
class Slot:
    """A place to be filled, such as `{town}` or `{his}`."""

    name: str


@dataclass(frozen=True)
class SameForm:
    """A verb that takes the form of the frame's own verb."""

    lemma: str


@dataclass(frozen=True)
class RolePattern:
    """A role and the pattern of its words."""

    label: str
    items: tuple[Item, ...]


Item = Word | Slot | SameForm | RolePattern


@dataclass(frozen=True)
class VerbFrame:
    """A verb in one sense with the pattern of what follows it."""

    lemma: str
    sense: str
    items: tuple[Item, ...]
    subject_label: str
    stative: bool
    passive: bool


@cache
def parse_pattern(text: str) -> tuple[Item, ...]:
    """
    The items of a pattern.

    # Raises

    `InputError` where brackets do not match or an item cannot be read.
    """
    items: list[Item] = []
    open_label: str | None = None
    inside: list[Item] = []
    for piece in re.findall(r"\(\w+|\)|[^\s()]+", text):
        if piece.startswith("(") and open_label is None:
            open_label, inside = role_label(piece[1:]), []
        elif piece == ")" and open_label is not None:
            items.append(RolePattern(open_label, tuple(inside)))
            open_label = None
        else:
            (items if open_label is None else inside).append(parse_item(piece))
    if open_label is not None:
        raise InputError(f"expected a closing bracket in the pattern {text!r}, found none")
    return tuple(items)


def role_label(short: str) -> str:
    """The PropBank-style label for a label as patterns write it."""
    return f"A{short}" if short.isdigit() else f"AM-{short}"


def parse_item(piece: str) -> Item:
    """One word, slot or second verb."""
    if piece.startswith("{") and piece.endswith("}"):
        return Slot(piece[1:-1])
    if piece.startswith("&"):
        return SameForm(piece[1:])
    match = WORD.fullmatch(piece)
    if match is None or piece in ("(", ")"):
        raise InputError(f"expected a word, {{slot}} or &verb in a pattern, found {piece!r}")
    return Word(match["text"], match["tag"], match["sense"] or match["late"])


@cache
def parse_frame(line: str) -> VerbFrame:
    """
    The verb frame on one line of a table.

    # Raises

    `InputError` where the line does not open with `lemma.sense`.
    """
    head, _, rest = line.strip().partition(" ")
    match = re.fullmatch(r"(?P<marks>[*~!]*)(?P<lemma>[a-z]+)\.(?P<sense>\w+)", head)
    if match is None:
        raise InputError(f"expected `lemma.sense pattern` for a verb frame, found {line!r}")
    items = parse_pattern(rest)
    return VerbFrame(
        lemma=match["lemma"],
        sense=match["sense"],
        items=items,
        subject_label="A1" if "*" in match["marks"] or match["lemma"] == "be" else "A0",
        stative="~" in match["marks"],
        passive=not set("!~*") & set(match["marks"]) and opens_with_object(items),
    )


def opens_with_object(items: tuple[Item, ...]) -> bool:
    """Whether the first item is an A1 that does not agree with the subject, so that it can be one."""
    if not items or not isinstance(items[0], RolePattern) or items[0].label != "A1":
        return False
    inner = items[0].items
    agreeing = {"his", "him", "himself", "he"}
    preposition = isinstance(inner[0], Word) and inner[0].text in ("of", "about", "for", "over")
    return not preposition and not any(isinstance(i, Slot) and i.name in agreeing for i in inner)
