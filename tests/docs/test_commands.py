"""
What the pages name exists, also in blocks that do not run: a parser takes each call of
`elmo-tasks`, configs have the keys of `-o`, commands the options in the text.
"""

import argparse
import json
import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from elmo_tasks.cli.main import COMMANDS, parsers
from tests.docs.test_examples import FENCE, Block, blocks_of
from tests.docs.test_pages import DOCS, PAGES, path_of
from tests.tiny import ROOT

INFO = re.compile(
    r"|bash|python|jsonnet|json|bibtex|yaml|text|\{[\w-]+\}.*|(bash|python) no-run: \S.*"
)
"""Of a block: its language, why it does not run, or a directive of the site."""

CALL = re.compile(r"(?:^|[|;&(]|\bdo|\w=\S+) *elmo-tasks (?=\w)", re.MULTILINE)
ENDS = "();<>|&\n"
NAME = re.compile(r"`\"?(\w+)\"?`|\b(\w+)\+*:")
OPTION = re.compile(r"`(?:[^`\n]*\s)?(--[a-z][\w-]*)[^`\n]*`")

OF_OTHERS = {
    *("--extra-index-url", "--torch-backend", "--logdir", "--extend-vocab"),
    *("--forget-sentences", "--use-sentence-keys", "--vocab-path"),
    "--bfloat16",
}
"""Options of pip, uv, TensorBoard, AllenNLP, allennlp's `elmo` and benchmarks."""

for_all_pages = pytest.mark.parametrize("page", sorted({*PAGES}), ids=path_of)


@for_all_pages
def test_a_block_runs_or_gives_a_reason(page: Path) -> None:
    for block in blocks_of(page):
        assert INFO.fullmatch(block.info), f"{page}:{block.line}"


def calls(block: Block) -> Iterator[list[str]]:
    """The arguments of each call in a block of shell lines."""
    text = block.text.replace("\\\n", " ").replace("'|'", "bar")
    for found in CALL.finditer(text):
        lexer = shlex.shlex(text[found.end() :], posix=True, punctuation_chars=ENDS)
        lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t", True, ""
        arguments = []
        for token in lexer:
            if token[0] in ENDS + "#":
                break
            arguments.append(token)
        yield arguments


@cache
def parser_of(command: str) -> argparse.ArgumentParser:
    return parsers(command)[0]


@cache
def keys() -> set[str]:
    """The names in the reference and in all configs."""
    found: set[str] = set()
    files = [DOCS / "reference-configs.md", *ROOT.rglob("training_config/**/*.jsonnet")]
    for file in files:
        for names in NAME.findall(file.read_text("utf-8")):
            found.update(names)
    return found


def names_in(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, part in value.items():
            yield from key.split(".")
            yield from names_in(part)


@for_all_pages
def test_calls_and_their_keys(page: Path) -> None:
    for block in blocks_of(page):
        if not block.info.startswith("bash"):
            continue
        for arguments in calls(block):
            given = vars(parser_of(arguments[0]).parse_args(arguments))
            for name in names_in(json.loads(given.get("overrides") or "{}")):
                is_known = name in keys() or name.isdigit()
                assert is_known, f"{page}:{block.line}: {name}"


@cache
def options() -> set[str]:
    parts = [parser_of(command) for command in COMMANDS]
    found = set(OF_OTHERS)
    for parser in parts:
        for action in parser._actions:
            found.update(action.option_strings)
            if isinstance(action, argparse._SubParsersAction):
                parts += action.choices.values()
    return found


@for_all_pages
def test_options_in_the_text(page: Path) -> None:
    text = FENCE.sub("", page.read_text("utf-8"))
    assert set(OPTION.findall(text)) <= options()
