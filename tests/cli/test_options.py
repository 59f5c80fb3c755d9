"""
Each option of each command, as `--help` lists it, runs on a trained model: with the
archive and with the run's folder, alone and with others.
"""

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from elmo_tasks.cli.main import COMMANDS
from elmo_tasks.formats.fetching.download import download_target
from elmo_tasks.formats.fetching.published import MODELS
from elmo_tasks.resources import DATA_VARIABLE
from tests.elmo.manylangs import make as manylangs
from tests.elmo.sources.transformer_samples import write_transformer
from tests.pretraining import toy
from tests.test_flow import SMALLER, elmo_tasks
from tests.tiny import FIXTURES

pytestmark = pytest.mark.slow

OPTION = re.compile(r"^  (?:-\w(?: [A-Z]+)?, )?(--[a-z0-9-]+)", re.MULTILINE)
ACTIONS = {
    "probe": ("wsd", "pos", "neighbors"),
    "bilm": ("prepare", "export", "perplexity", "surprisal", "score", "random"),
}

SHORT = {"dataset_reader.max_instances": 20}
TINY = SMALLER | {"trainer.num_epochs": 1}


@dataclass(frozen=True)
class Call:
    """
    A command line, in which `{out}` is an empty folder and other names in braces are
    those of `places`; the files that it leaves in that folder; what it prints, a
    pattern.
    """

    line: str
    files: tuple[str, ...] = ()
    prints: str = ""

    @property
    def command(self) -> str:
        words = self.line.split()
        if words[0] in ACTIONS:
            return " ".join(words[:2])
        return words[0]


BILM = "--model {bilm}/options.json+{bilm}/weights.hdf5"
TABLE = "ablate {table} --scale mini -s {out}/table"

CELLS = "--column text --separator , --quoting minimal"
CALLS = [
    Call(
        "train {config} --serialization-dir {out}/run --overrides '{tiny}'"
        " --include-package collections",
        ("run/model.tar.gz", "run/metrics.json"),
    ),
    Call("train {config} -s {run_copy} --recover -o '{tiny}'"),
    Call("train ner --scale mini -s {out}/run -o '{tiny_ner}'", ("run/model.tar.gz",)),
    Call(
        "check ner_elmo --scale mini --show",
        prints='"elmo_tasks_ner"',
    ),
    Call("check {config} --overrides '{tiny}' --include-package collections"),
    Call("configs --copy {out}/configs", ("configs/ner_elmo.jsonnet",)),
    Call("configs", prints="ner_elmo"),
    Call("info", prints="torch"),
    Call("info {archive}", prints="elmo_tasks_ner"),
    Call("models small", prints="elmo-small"),
    Call("models --download nlpl-217", prints="in the cache: /"),
    Call(
        TABLE
        + " --dry-run --seeds 2 --workers 2 --rows 'last*' --figures {out}/figures",
        prints="2 runs",
    ),
    Call(TABLE + " --dry-run --no-cache --include-package collections"),
    Call(
        TABLE + " --folder {out}/again --runs {out}/runs --rows baseline",
        ("again/table.md", "again/results.jsonl"),
    ),
    Call(f"elmo {{text}} {{out}}/v.hdf5 --all {BILM} --device cpu", ("v.hdf5",)),
    Call(f"elmo {{text}} {{out}}/v.hdf5 --top --float16 {BILM}", ("v.hdf5",)),
    Call(f"elmo {{text}} {{out}}/v.hdf5 --average --int8 {BILM}", ("v.hdf5",)),
    Call("elmo {text} {out}/v.hdf5 --mix {archive} --force " + BILM, ("v.hdf5",)),
    Call(
        f"elmo {{json}} {{out}}/v.hdf5 --column words {BILM}",
        ("v.hdf5",),
    ),
    Call(
        "elmo {text} {out}/v.hdf5 --tokenizer basic --pooling mean --precision bfloat16 --max-length 4 --overlap 2"
        f" --batch-size 2 --max-tokens 9 {BILM}",
        ("v.hdf5",),
    ),
    Call(
        "elmo {text} {out}/v.hdf5 --model {transformer} --pieces first",
        ("v.hdf5",),
    ),
    Call("elmo {text} {out}/v.hdf5 --model {manylangs}", ("v.hdf5",)),
    Call(f"elmo {{items}} {{out}}/v.hdf5 {CELLS} {BILM}", ("v.hdf5",)),
    Call(
        f"static {{items}} --output {{out}}/s.txt.gz --min-count 1 --force {CELLS} {BILM}",
        ("s.txt.gz",),
    ),
    Call(
        f"static {{text}} --output {{out}}/s.txt --layers top --min-count 1 {BILM} --most 9 --device cpu"
        " --tokenizer basic --precision bfloat16 --max-length 4 --overlap 2 --batch-size 2 --max-tokens 9",
        ("s.txt",),
    ),
    Call(
        f"static {{json}} --output {{out}}/s.txt --min-count 1 --column words {BILM}",
        ("s.txt",),
    ),
    Call(
        "static {text} --output {out}/s.txt --min-count 1 --layers {archive} " + BILM,
        ("s.txt",),
    ),
    Call(
        "static {text} --output {out}/s.txt --min-count 1"
        " --model {transformer} --pieces last",
        ("s.txt",),
    ),
    Call(
        "probe pos {pos} {pos_test} --model {transformer} --pieces first --device cpu",
        prints="accuracy",
    ),
    Call(
        "probe wsd {wsd} --model {transformer} --pieces mean --device cpu",
        prints="harbour",
    ),
    Call(
        "probe neighbors ferry --corpus {text} --model {transformer} --pieces mean --layer 1"
        " --occurrence 2 --top 3 --vectors {vectors} --device cpu",
        prints="ferry",
    ),
    Call(
        "bilm prepare {text} --output {out}/lm --heldout 3 --model {bilm_run}",
        ("lm/train.0000.text.txt.gz",),
    ),
    Call(
        "bilm prepare {json} --output {out}/lm --text-field text --language en --heldout 0"
        " --wrapped --separator , --quoting none",
        ("lm/train.0000.text.txt.gz",),
    ),
    Call("bilm export {bilm_run} {out}/bilm --mantissa-bits 9", ("bilm/weights.hdf5",)),
    Call(
        "bilm export {bilm_run} {out}/bilm --format safetensors --language la --license cc0-1.0 --text novels",
        ("bilm/README.md", "bilm/model.safetensors"),
    ),
    Call(
        "bilm perplexity {text} --model {bilm_run} --batch-size 2 --max-tokens 20"
        " --precision bfloat16 --state carry --device cpu",
        prints="arithm",
    ),
    Call(
        "bilm surprisal {text} --model {bilm_run} --output {out}/words.tsv --sentences"
        " {out}/sums.tsv --state carry --tokenizer basic --precision bfloat16"
        " --device cpu --force",
        ("words.tsv", "sums.tsv"),
        prints="weights of",
    ),
    Call(
        "bilm surprisal {items} --model {bilm_run} --output {out}/words.tsv --column text"
        " --keep item --regions '|' --tokenizer basic --separator , --quoting minimal",
        ("words.tsv",),
    ),
    Call(
        "bilm random {out}/random --seed 3 --format safetensors --options {bilm}/options.json",
        ("random/model.safetensors",),
    ),
    Call(
        "bilm score --pairs {pairs} --model {bilm_run} --output {out}/pairs.tsv --group"
        " field --tokenizer basic --precision bfloat16 --device cpu --force"
        "",
        ("pairs.tsv",),
        prints="all",
    ),
]


@pytest.fixture(scope="module")
def places(
    root: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, str]]:
    """What the commands read, by the names in `CALLS`."""
    folder = tmp_path_factory.mktemp("options")
    config = root / "training_config" / "ner_elmo.jsonnet"
    tiny = json.dumps(TINY)
    run, run_copy = folder / "run", folder / "run_copy"
    for one in (run, run_copy):
        elmo_tasks("train", config, "-s", one, "-o", tiny)
    toy.fake_run(folder / "bilm_run")
    sentences = ["Mira saw the ferry .", "The ferry left the old harbour , too ."] * 4
    text, lines = folder / "text.txt", folder / "text.jsonl"
    text.write_text("\n".join(sentences) + "\n")
    records = [{"words": one.split(), "text": one} for one in sentences]
    lines.write_text(json_lines(records))
    pairs = [{"good": one, "bad": one, "field": "ties"} for one in sentences]
    (folder / "pairs.jsonl").write_text(json_lines(pairs))
    items = 'item,text\n1,"Mira saw|the ferry ."\n2,The ferry|left .\n'
    (folder / "items.csv").write_text(items)
    inputs = [{"tokens": sentence.split()} for sentence in sentences]
    (folder / "inputs.jsonl").write_text(json_lines(inputs))
    rows = [
        table_row("baseline", config, {"model.elmo.at": "output"}),
        table_row("last", config, {"model.elmo.mix": "last", "model.elmo.l2": None}),
    ]
    cached = download_target(MODELS["nlpl-217"].files[0])
    cached.parent.mkdir(parents=True, exist_ok=True)
    cached.write_bytes(b"x")
    table = {"title": "Two rows", "rows": rows}
    (folder / "table.jsonnet").write_text(json.dumps(table))
    yield {
        "config": str(config),
        "tiny": tiny,
        "tiny_ner": json.dumps(TINY | SHORT),
        "run": str(run),
        "run_copy": str(run_copy),
        "archive": str(run / "model.tar.gz"),
        "changed": json.dumps({"validation_data_loader.batch_sampler.batch_size": 3}),
        "data": str(root / "ner" / "eng.testa"),
        "inputs": str(folder / "inputs.jsonl"),
        "pairs": str(folder / "pairs.jsonl"),
        "items": str(folder / "items.csv"),
        "bilm_run": str(folder / "bilm_run"),
        "text": str(text),
        "json": str(lines),
        "table": str(folder / "table.jsonnet"),
        "bilm": str(root / "bilm"),
        "vectors": str(root / "vectors" / "glove.6B.50d.txt"),
        "transformer": str(write_transformer(folder / "transformer")),
        "manylangs": str(manylangs.HERE / "both"),
        "pos": str(FIXTURES / "pos" / "train.conllu"),
        "pos_test": str(FIXTURES / "pos" / "dev.conllu"),
        "wsd": str(FIXTURES / "wsd"),
    }


def json_lines(values: Iterable[Any]) -> str:
    return "".join([json.dumps(value) + "\n" for value in values])


def table_row(name: str, config: Path, changes: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": name,
        "config": str(config),
        "row_label": "ours",
        "column": name,
        "metric": "f1",
        "changes": TINY | changes,
    }


def words_of(call: Call, places: Mapping[str, str]) -> list[str]:
    words = shlex.split(call.line)
    for name, place in places.items():
        words = [word.replace(f"{{{name}}}", place) for word in words]
    return words


def run_call(call: Call, places: Mapping[str, str], out: Path) -> None:
    words = words_of(call, dict(places) | {"out": str(out)})
    try:
        elmo_tasks(*words)
    except SystemExit as ended:  # the exit status of `check` and `data`
        assert not ended.code
    for file in call.files:
        assert (out / file).stat().st_size > 0, file


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.line.replace("/", "_"))
def test_calls(
    call: Call,
    places: dict[str, str],
    root: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(DATA_VARIABLE, str(root))
    run_call(call, places, tmp_path)
    assert re.search(call.prints, capsys.readouterr().out)


EVALUATE = (
    "--device cpu --allow-downloads",
    "--overrides '{changed}'",
    "--output-file {out}/scores.json",
    "--predictions-output-file {out}/predictions",
    "--batch-size 2",
    "--include-package collections",
)
PREDICT = (
    "--device cpu --allow-downloads",
    "--overrides '{changed}'",
    "--output-file {out}/predictions.jsonl",
    "--batch-size 2",
    "--predictor elmo_tasks_ner",
    "--include-package collections",
)
"""
The options of a trained model. No option, each alone and all are tried: of each two,
none, one, the other and both.
"""


def trained(command: str, file: str, options: tuple[str, ...]) -> list[str]:
    """Commands with an archive and with its run: no option, each alone, and all."""
    found = []
    for model in ("{archive}", "{run}"):
        for chosen in ("", *options, " ".join(options)):
            found.append(f"{command} {model} {file} {chosen}")
    return found


@pytest.mark.parametrize(
    ("command", "file", "options"),
    [("evaluate", "{data}", EVALUATE), ("predict", "{inputs}", PREDICT)],
)
def test_results_are_the_same_with_any_options(
    command: str,
    file: str,
    options: tuple[str, ...],
    places: dict[str, str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Scores, or tags of all lines, printed or in the output file."""
    found: list[Any] = []
    for number, line in enumerate(trained(command, file, options)):
        out = tmp_path / str(number)
        out.mkdir()
        run_call(Call(line), places, out)
        shown = capsys.readouterr().out
        if "--output-file" in line:
            (written,) = out.glob("*.json*")
            assert shown == "" if command == "predict" else written.read_text() in shown
            shown = written.read_text()
        if "--predictions-output-file" in line:
            assert (out / "predictions").stat().st_size > 0
        if command == "evaluate":
            found.append(json.loads(shown[shown.index("{") :]))
            assert found[-1] == pytest.approx(found[0], abs=1e-5), line
        else:
            found.append([json.loads(answer)["tags"] for answer in shown.splitlines()])
            assert found[-1] == found[0], line


def commands() -> list[str]:
    """The names of all commands and of their actions."""
    found = []
    for name in COMMANDS:
        if name in ("ablate-run", "serve"):  # see tests/web/test_serve.py
            continue
        if name not in ACTIONS:
            found.append(name)
            continue
        for action in ACTIONS[name]:
            found.append(f"{name} {action}")
    return found


@pytest.mark.parametrize("command", commands())
def test_no_option_is_left_out(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        elmo_tasks(*command.split(), "--help")
    assert ended.value.code == 0
    documented = set(OPTION.findall(capsys.readouterr().out)) - {"--help"}
    documented -= {"--quiet", "--verbose"}  # tests/cli/test_verbosity.py
    documented -= {"--ray"}  # tests/cli/test_ray.py, tests/docs/test_scale.py
    texts = [call.line for call in CALLS if call.command == command]
    if command == "evaluate":
        texts += EVALUATE
    if command == "predict":
        texts += PREDICT
    for text in texts:
        documented -= {word for word in text.split() if word.startswith("--")}
    assert documented == set()
