"""
`python -m elmo_tasks.commands.demo`: NER without and with ELMo on the synthetic corpus, from training to a tagged
sentence, by the commands that a user types.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from elmo_tasks import settings
from elmo_tasks.data.columns import read_columns
from elmo_tasks.data.spans import spans_from_tags
from elmo_tasks.errors import InputError

ROOT = Path(__file__).resolve().parents[2]
ROWS = {"ner": "without ELMo", "ner_elmo": "with ELMo"}
SHOWN_LINES = 15
"""How much of a failed command's output is shown."""


class Row(NamedTuple):
    """What one config reached: F1 on the test file in percent, and the seconds that each step took."""

    f1: float
    training: float
    evaluation: float


def main(arguments: Sequence[str] | None = None) -> None:
    """Trains and scores both rows, tags one sentence, and prints what came out."""
    parser = argparse.ArgumentParser(prog="python -m elmo_tasks.commands.demo", description=main.__doc__)
    parser.add_argument("--out", type=Path, default=Path("demo_out"), help="folder for both runs (demo_out)")
    parser.add_argument("--overrides", default="{}", help="as -o of allennlp train, for both runs")
    given = parser.parse_args(arguments)
    try:
        demonstrate(given.out, given.overrides)
    except InputError as error:
        sys.exit(f"error: {error}")


def demonstrate(out: Path, overrides: str) -> None:
    """
    # Parameters

    out : `Path`
        Gets a folder per config; an earlier demo's are replaced.
    overrides : `str`
        JSON, as for `allennlp train -o`.

    # Raises

    `InputError`
        If the configs are not there, `out` cannot be written, or a command fails; with the end of what it said.
    """
    if not (ROOT / "training_config" / "ner.jsonnet").is_file():
        raise InputError("the demo needs the project's folder with training_config", file=ROOT)
    out, start = out.absolute(), time.monotonic()
    make_folder(out)
    print("Named entities in the synthetic corpus (scale mini): training without and with ELMo, some minutes on a CPU.")
    rows = {config: train_and_score(config, out, overrides) for config in ROWS}
    print(table(rows))
    print(tag(example(test_file()), out))
    print(f"\n{time.monotonic() - start:.0f} s in all; runs, logs and archives are in {out}")


def make_folder(out: Path) -> None:
    """
    # Raises

    `InputError`
        If it cannot be made.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"the folder cannot be made: {error.strerror}", file=out) from None


def train_and_score(config: str, out: Path, overrides: str) -> Row:
    """One row of the table."""
    print(f"  {ROWS[config]} ...", end="", flush=True)
    run, scores = out / config, out / f"{config}.scores.json"
    training = allennlp(out, "train", f"training_config/{config}.jsonnet", "-s", run, "-f", "-o", overrides)
    evaluation = allennlp(out, "evaluate", run / "model.tar.gz", test_file(), "--output-file", scores)
    row = Row(100 * json.loads(scores.read_text())["f1"], training, evaluation)
    print(f" F1 {row.f1:.1f} after {training:.0f} s")
    return row


def table(rows: dict[str, Row]) -> str:
    """The scores of all rows side by side."""
    lines = [f"\n{'':14}{'F1':>6}{'training':>12}{'evaluation':>12}"]
    lines += [
        f"{ROWS[name]:14}{row.f1:6.1f}{row.training:10.0f} s{row.evaluation:10.0f} s" for name, row in rows.items()
    ]
    return "\n".join(lines)


def test_file() -> Path:
    """The embedded test split."""
    return settings.fixtures_root() / "miniworld" / "ner" / "eng.testb"


def example(file: Path) -> list[str]:
    """The words of a column file's first sentence with two entities or more."""
    sentences = (sentence.columns for sentence in read_columns(file))
    return next(list(columns[0]) for columns in sentences if len(spans_from_tags(columns[-1])) > 1)


def tag(words: list[str], out: Path) -> str:
    """The sentence, and the entities that the model with ELMo finds in it."""
    questions, answers = out / "sentence.jsonl", out / "entities.jsonl"
    questions.write_text(json.dumps({"tokens": words}) + "\n")
    archive = out / "ner_elmo" / "model.tar.gz"
    allennlp(out, "predict", archive, questions, "--output-file", answers, "--silent")
    entities = json.loads(answers.read_text())["entities"]
    found = ", ".join(f"{entity['text']} ({entity['type']})" for entity in entities) or "no entity"
    return f"\n{' '.join(words)}\n  -> {found}"


def allennlp(out: Path, command: str, *arguments: object) -> float:
    """
    Runs `allennlp COMMAND` in the project's folder, its output in `out/demo.log`; the seconds that it took.

    # Raises

    `InputError`
        With the end of the output, if the command fails; if the log cannot be written.
    """
    given = [sys.executable, "-m", "allennlp", command, *map(str, arguments)]
    # The scale is mini, whatever the user has set.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ELMO_TASKS_")}
    start, log = time.monotonic(), out / "demo.log"
    try:
        with log.open("w") as stream:
            code = subprocess.run(given, cwd=ROOT, env=environment, stdout=stream, stderr=stream).returncode
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror}", file=log) from None
    if code:
        said = log.read_text(errors="replace").replace("\r", "\n").splitlines()[-SHOWN_LINES:]
        raise InputError("\n".join([f"allennlp {command} failed:", *said]), file=log)
    return time.monotonic() - start


if __name__ == "__main__":
    main()
