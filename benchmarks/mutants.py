"""
Random faults in the code: do the tests notice them?

cosmic-ray makes the faults: an operator, a comparison, a number, a negation, an `and`,
a loop; and, with `LeaveOutCall` below, a call that is left out. A kind is drawn first,
and then a place of that kind, so that rare kinds are tried as often as common ones.
Each fault is made in a clone of the project, and there the tests run that execute its
line, at most `MOST_SECONDS` of them: those of the folder's own tests first; then those
of `ELSEWHERE`; then the slow ones of its folder, for `SLOW_SECONDS`. A fault is noticed
when one of them fails.

    make mutants FOLDERS=nn COUNT=100 SEED=1

Each fault is a line of a file in `out/mutants` that is named after the folders and the
seed. The same call skips the faults that are there.
"""

import argparse
import ast
import difflib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from cosmic_ray.commands.init import init
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.operator import Example, Operator
from cosmic_ray.plugins import OPERATOR_PROVIDERS, get_operator
from cosmic_ray.work_item import MutationSpec, WorkItem
from coverage import CoverageData
from parso.python.tree import Keyword, PythonNode
from parso.tree import NodeOrLeaf

OUT = Path("out/mutants")
FOLDERS = ("bilm", "elmo", "nn", "tasks", "formats", "pretraining")
TASKS = ("coref", "snli", "squad", "srl", "sst", "tagging")
MOST_SECONDS = 60.0
"""Of tests for one fault, by the time that they take without it."""

SLOW_SECONDS = 150.0
"""Of the slow tests of a folder, for a fault that the quick ones do not notice."""

TIMEOUT = 300.0
"""Seconds after which a fault that makes the tests endless counts as noticed."""

ELSEWHERE = ("tests/docs", "tests/gpu")
"""
Tests that are tried last: those that compare the pages with the code, such as the
defaults of arguments, and those of the pretended GPU, which need a process of their own.
"""

FORKED = "tests/hostile.py"
"""
Runs what a test reads in a forked process, into which coverage does not see: the tests
that execute it may execute any line of their folder.
"""

LEFT_OUT = {
    "detach", "clamp", "clamp_", "clamp_min", "masked_fill", "masked_fill_", "dropout", "relu", "tanh",
    "sigmoid", "abs", "contiguous", "clone", "float", "strip", "rstrip", "lower", "sorted", "reversed", "min", "max",
    "log", "exp", "sqrt", "mean", "sum", "unique", "flip", "fsync", "resolve", "copy",
}  # fmt: skip
"""Functions and methods whose call is replaced by what they are given."""

KINDS = {
    "ReplaceBinaryOperator": "operator",
    "ReplaceUnaryOperator": "operator",
    "ReplaceComparisonOperator": "comparison",
    "NumberReplacer": "constant",
    "ReplaceTrueWithFalse": "constant",
    "ReplaceFalseWithTrue": "constant",
    "AddNot": "negation",
    "ReplaceAndWithOr": "branch",
    "ReplaceOrWithAnd": "branch",
    "ReplaceBreakWithContinue": "branch",
    "ReplaceContinueWithBreak": "branch",
    "ZeroIterationForLoop": "branch",
    "RemoveDecorator": "left-out call",
    "LeaveOutCall": "left-out call",
}
"""The kind of each of cosmic-ray's operators, by the start of its name."""

ALIKE = (
    {"Add", "Sub", "Mul", "Div", "FloorDiv", "Mod", "Pow"},
    {"BitOr", "BitAnd", "BitXor", "LShift", "RShift"},
    {"Lt", "LtE", "Gt", "GtE", "Eq", "NotEq"},
    {"Is", "IsNot"},
    {"In", "NotIn"},
)
"""
One replaces another of the same set; `a + b` as `a >> b` would be noticed by
everything.
"""


MODULES = {"torch", "F", "functional", "math", "numpy", "os", "self"}
"""Names before a function that is no method of a value."""


class LeaveOutCall(Operator):
    """
    `x.detach()` and `dropout(x)` become `x`, and `check(x)` as a statement becomes
    `pass`.
    """

    def mutation_positions(self, node: NodeOrLeaf) -> Iterator[Any]:
        if remainder(node):
            yield node.start_pos, node.end_pos

    def mutate(self, node: NodeOrLeaf, index: int) -> NodeOrLeaf:
        first = node.get_first_leaf()
        parts = remainder(node)
        parts[0].get_first_leaf().prefix = first.prefix
        if len(parts) == 1:
            return parts[0]
        return PythonNode("atom_expr", parts)

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        return (Example("y = x.detach()", "y = x"), Example("check(x)", "pass"))


def remainder(node: Any) -> list[NodeOrLeaf]:
    """
    What a call is replaced by when it is left out; nothing if it is not to be left out.
    """
    if node.type != "atom_expr":
        return []
    called = node.children[:-1]
    last = node.children[-1]
    if last.type != "trailer" or last.children[0] != "(":
        return []
    if node.parent.type == "simple_stmt":
        return [Keyword("pass", node.start_pos)]
    name = called[-1]
    if name.type == "trailer":
        name = name.children[-1]
    word = getattr(name, "value", "")
    is_dropout = "dropout" in word
    if word.strip("_") not in LEFT_OUT and not is_dropout:
        return []
    of_a_module = getattr(called[0], "value", "") in MODULES and len(called) == 2
    if len(called) > 1 and not is_dropout and not of_a_module:
        return called[:-1]
    return first_argument(last)


def first_argument(call: Any) -> list[NodeOrLeaf]:
    if len(call.children) != 3:  # "(", arguments, ")"
        return []
    first = call.children[1]
    if first.type == "arglist":
        first = first.children[0]
    if first.type == "argument":
        return []
    return [first]


class OurOperators:
    """cosmic-ray's way to more operators."""

    def __iter__(self) -> Iterator[str]:
        return iter(["LeaveOutCall"])

    def __getitem__(self, name: str) -> type[Operator]:
        return LeaveOutCall


OPERATOR_PROVIDERS["elmo_tasks"] = OurOperators()


@dataclass(frozen=True)
class Fault:
    """A change of one place; `number` says which one of the sample it is."""

    number: int
    folder: str
    kind: str
    mutation: MutationSpec

    @property
    def path(self) -> str:
        return str(self.mutation.module_path)

    def applied(self, code: str) -> str:
        operator = get_operator(self.mutation.operator_name)()
        changed = mutate_code(code, operator, self.mutation.occurrence)
        assert changed is not None, self
        return str(changed)

    def is_code(self) -> bool:
        """
        Whether Python reads what results; a `*` before arguments is no product, for
        example.
        """
        try:
            compile(self.applied(Path(self.path).read_text()), self.path, "exec")
        except SyntaxError:
            return False
        return True


class Collected(list[WorkItem]):
    """Takes what cosmic-ray writes into its database."""

    def add_work_items(self, items: Iterable[WorkItem]) -> None:
        self.extend(items)


def all_mutations(folder: str) -> dict[str, list[MutationSpec]]:
    """
    Every fault that can be made in a folder, by kind; none in annotations, which are no
    code.
    """
    paths = sorted(Path("elmo_tasks", folder).rglob("*.py"))
    collected = Collected()
    init(paths, collected, {})
    left_out = {path: annotations(path) for path in paths}
    found = defaultdict(list)
    for item in collected:
        mutation = item.mutations[0]
        kind = kind_of(mutation)
        if kind and mutation.start_pos not in left_out[mutation.module_path]:
            found[kind].append(mutation)
    return dict(found)


def kind_of(mutation: MutationSpec) -> str | None:
    """The kind of a fault; None if it is not to be made."""
    parts = mutation.operator_name.partition("/")[2].split("_")
    name = parts[0]
    replaced = set(parts[1:])  # one operator and another, or nothing
    is_alike = any(replaced <= group for group in ALIKE)
    if replaced and not is_alike and "Unary" not in name:
        return None
    return KINDS.get(name)


def annotations(path: Path) -> set[tuple[Any, int]]:
    """
    Line and column of what is no code that runs: annotations, and `*` in signatures.
    """
    places: set[tuple[Any, int]] = set()
    code = path.read_text()
    lines = code.splitlines()
    for node in ast.walk(ast.parse(code)):
        for name in ("annotation", "returns"):
            annotation = getattr(node, name, None)
            if annotation is not None:
                places |= places_in(annotation)
        if isinstance(node, ast.FunctionDef):
            places |= stars_of(node, lines)
    return places


def stars_of(function: ast.FunctionDef, lines: list[str]) -> set[tuple[Any, int]]:
    """
    Where a `*` stands among the parameters of a function, which is no product: up to
    the line of the first statement.
    """
    places = set()
    for number in range(function.lineno, function.body[0].lineno):
        for column, character in enumerate(lines[number - 1]):
            if character == "*":
                places.add((number, column))
    return places


def places_in(annotation: ast.AST) -> set[tuple[Any, int]]:
    """Where the expressions of an annotation begin, and the `|` after them."""
    places: set[tuple[Any, int]] = set()
    for part in ast.walk(annotation):
        if isinstance(part, ast.expr):
            places.add((part.lineno, part.col_offset))
            places.add((part.end_lineno, (part.end_col_offset or 0) + 1))
    return places


def sample(folders: list[str], count: int, seed: int) -> list[Fault]:
    """
    The same faults for the same code and seed; more of a folder that has more places.
    """
    chance = random.Random(seed)
    places: dict[str, dict[str, dict[Any, list[MutationSpec]]]] = {}
    for folder in folders:
        places[folder] = {}
        for kind, mutations in all_mutations(folder).items():
            of_kind = places[folder].setdefault(kind, {})
            for one in mutations:
                place = (one.module_path, one.start_pos, one.end_pos)
                of_kind.setdefault(place, []).append(one)
    sizes = []
    for folder in folders:
        sizes.append(sum(len(of_kind) for of_kind in places[folder].values()))
    faults: dict[Any, Fault] = {}
    while len(faults) < min(count, sum(sizes)):
        folder = chance.choices(folders, sizes)[0]
        kind = chance.choice(sorted(places[folder]))
        place = chance.choice(sorted(places[folder][kind]))
        mutation = chance.choice(places[folder][kind][place])
        fault = Fault(len(faults), folder, kind, mutation)
        if fault.is_code():
            faults.setdefault((kind, place), fault)
    return list(faults.values())


@dataclass
class Tests:
    """
    Which tests execute which lines, and how long each takes; of the tests without a
    fault.
    """

    lines: CoverageData
    seconds: dict[str, float]

    @classmethod
    def read(cls, folder: Path) -> "Tests":
        lines = CoverageData(str(folder / ".coverage"))
        lines.read()
        seconds: dict[str, float] = defaultdict(float)
        failed = set()
        for line in (folder / "tests.jsonl").read_text().splitlines():
            report = json.loads(line)
            if report["$report_type"] == "TestReport":
                seconds[report["nodeid"]] += report["duration"]
                if report["outcome"] == "failed":
                    failed.add(report["nodeid"])
        sound = {name: seconds[name] for name in seconds if name not in failed}
        return cls(lines, sound)

    def of(self, fault: Fault) -> list[str]:
        """
        Of those that execute the fault's lines the quickest, and first those of its
        folder.
        """
        own = tuple(f"tests/{name}/" for name in own_folders(fault))

        def rank(name: str) -> tuple[bool, float]:
            return not name.startswith(own), self.seconds[name]

        tests = self._executing(fault) & set(self.seconds)
        chosen: list[str] = []
        left = MOST_SECONDS
        for name in sorted(tests, key=rank):
            left -= self.seconds[name]
            if left < 0 and chosen:
                break
            chosen.append(name)
        return chosen

    def _executing(self, fault: Fault) -> set[str]:
        """The tests that execute the fault's lines, or may do so in a forked process."""
        tests = set()
        for context in self._contexts(fault):
            name, _, phase = context.rpartition("|")
            if phase == "run":
                tests.add(name)
                continue
            file = name.partition("::")[0] + "::"  # a fixture that several tests share
            tests |= {other for other in self.seconds if other.startswith(file)}
        own = tuple(f"tests/{name}/" for name in own_folders(fault))
        for context in self._contexts_of(FORKED):
            name = context.rpartition("|")[0]
            if name.startswith(own):
                tests.add(name)
        return tests

    def _contexts(self, fault: Fault) -> set[str]:
        """
        Coverage's names of what executes the fault's lines; of all lines if they are
        executed at import.
        """
        by_line = self.lines.contexts_by_lineno(fault.path)
        contexts: set[str] = set()
        for line in range(fault.mutation.start_pos[0], fault.mutation.end_pos[0] + 1):
            contexts.update(by_line.get(line, []))
        if not any(contexts):
            return self._contexts_of(fault.path)
        return contexts - {""}

    def _contexts_of(self, path: str) -> set[str]:
        """Coverage's names of what executes any line of a file."""
        contexts: set[str] = set()
        for found in self.lines.contexts_by_lineno(path).values():
            contexts.update(found)
        return contexts - {""}


def test_folders() -> list[str]:
    """
    All but those that start programs: they are slow, and coverage does not see into
    them.
    """
    slow = {"archives", "cli", "docs", "fuzz", "gpu", "integrations", "tables", "web"}
    packages = sorted(file.parent for file in Path("tests").glob("*/__init__.py"))
    return [str(folder) for folder in packages if folder.name not in slow]


def clone(number: int) -> Path:
    """A clone of the project's last commit."""
    folder = OUT / f"clone-{number}"
    if not folder.exists():
        git(Path(), "clone", "--quiet", ".", str(folder))
    commit = git(Path(), "rev-parse", "HEAD")
    if git(folder, "rev-parse", "HEAD") != commit:
        (folder / "tests.jsonl").unlink(missing_ok=True)
    git(folder, "fetch", "--quiet")
    git(folder, "checkout", "--quiet", "--force", commit)
    return folder.resolve()


def git(folder: Path, *arguments: str) -> str:
    """What a git command prints in a folder."""
    command = ["git", "-C", str(folder), *arguments]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.strip()


def run_tests(
    folder: Path, *arguments: str, seconds: float | None = None
) -> tuple[int, str]:
    """The exit status of pytest, -1 after `seconds`, and what it printed."""
    environment = {
        "PYTHONPATH": str(folder),
        "OMP_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [sys.executable, "-m", "pytest", "--quiet", "-p", "no:cacheprovider"]
    command += arguments
    process = subprocess.Popen(
        command, cwd=folder, env=os.environ | environment, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        printed, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return -1, "took too long"
    return process.returncode, printed


def measure(folder: Path, workers: int) -> Tests:
    """Runs all tests once, in a clone without a fault."""
    if not (folder / "tests.jsonl").exists():  # of another commit: `clone` removes it
        arguments = test_folders() + ["-m", "not slow"]
        arguments += [
            "--cov=elmo_tasks",
            "--cov=tests.hostile",
            "--cov-context=test",
            "--cov-report=",
        ]
        arguments += ["--report-log=new.jsonl", f"--numprocesses={workers}"]
        status, printed = run_tests(folder, *arguments)
        if status != 0:
            print(
                f"some tests fail without a fault, and are left out:\n{printed[-3000:]}"
            )
        (folder / "new.jsonl").rename(folder / "tests.jsonl")
    return Tests.read(folder)


def attempt(fault: Fault, tests: Tests, folder: Path) -> dict[str, Any]:
    """Makes a fault in a clone, runs the tests there, and takes it back."""
    file = folder / fault.path
    code = file.read_text()
    changed = fault.applied(code)
    chosen = tests.of(fault)
    began = time.monotonic()
    status, printed = 0, ""
    try:
        file.write_text(changed)
        (folder / "chosen.txt").write_text("\n".join(chosen))
        if chosen:
            arguments = ("-x", "@chosen.txt")
            status, printed = run_tests(folder, *arguments, seconds=TIMEOUT)
        for elsewhere in ELSEWHERE:
            if status == 0:
                status, printed = run_tests(folder, "-x", "-m", "not slow", elsewhere)
        if status == 0:
            status, printed = run_slow_tests(folder, fault)
    finally:
        file.write_text(code)
    return {
        "number": fault.number,
        "folder": fault.folder,
        "kind": fault.kind,
        "place": f"{fault.path}:{fault.mutation.start_pos[0]}",
        "change": changed_lines(code, changed),
        "tests": len(chosen),
        "noticed": status != 0,
        "by": noticed_by(printed) if status else "",
        "seconds": round(time.monotonic() - began),
    }


def own_folders(fault: Fault) -> list[str]:
    """The folders of the tests of a fault's part."""
    if fault.folder == "tasks":
        return [fault.folder, *TASKS]
    return [fault.folder]


def run_slow_tests(folder: Path, fault: Fault) -> tuple[int, str]:
    """
    Those of the fault's own folder, which start programs or processes, as `run_tests`
    does; 0 if they do not end in time, since they take long without a fault, too.
    """
    own = [str(Path("tests", name)) for name in own_folders(fault)]
    there = [name for name in own if (folder / name).is_dir()]
    arguments = (*there, "-m", "slow", "-x")
    status, printed = run_tests(folder, *arguments, seconds=SLOW_SECONDS)
    if status == 1:  # some tests have failed; else they were ended, or there is none
        return status, printed
    return 0, ""


def changed_lines(before: str, after: str) -> list[str]:
    """The lines that differ, after `-` and `+`."""
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), n=0, lineterm=""
    )
    return [line for line in lines if line[:2] not in ("--", "++", "@@")]


def noticed_by(printed: str) -> str:
    """The first failure that pytest printed, or the end of what it printed."""
    for line in printed.splitlines():
        if line.startswith(("FAILED", "ERROR")):
            return line[:200]
    return printed[-200:]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.strip().partition("\n")[0])
    parser.add_argument("folders", nargs="*", default=FOLDERS)
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    # All of one commit, whatever is committed meanwhile; the first one has no faults.
    sound, *others = [clone(number) for number in range(options.workers + 1)]
    with chdir(sound):
        faults = sample(options.folders, options.count, options.seed)
    file = OUT / f"faults-{'-'.join(options.folders)}-{options.seed}.jsonl"
    done = []
    if file.exists():
        done = [json.loads(line) for line in file.read_text().splitlines()]
    known = {one["number"] for one in done}
    tests = measure(sound, options.workers)
    clones: SimpleQueue[Path] = SimpleQueue()
    for folder in others:
        clones.put(folder)

    def work(fault: Fault) -> dict[str, Any]:
        folder = clones.get()
        try:
            return attempt(fault, tests, folder)
        finally:
            clones.put(folder)

    left = [fault for fault in faults if fault.number not in known]
    with ThreadPoolExecutor(options.workers) as pool, file.open("a") as log:
        for result in pool.map(work, left):
            done.append(result)
            log.write(json.dumps(result) + "\n")
            log.flush()
            if not result["noticed"]:
                print(result["place"], *result["change"], sep="\n", flush=True)
    for name in options.folders:
        of_folder = [one for one in done if one["folder"] == name]
        noticed = sum(one["noticed"] for one in of_folder)
        print(f"{name}: {noticed} of {len(of_folder)} noticed")


if __name__ == "__main__":
    main()
