"""Second step: rows -> runs. A run is a row with a seed; the hash of all that decides its result names its folder."""

import copy
import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from allennlp.common import Params
from allennlp.common.params import with_overrides

from elmo_tasks.ablation.ensemble import require_probabilities
from elmo_tasks.ablation.table import Row, Table
from elmo_tasks.checks import shape_problems
from elmo_tasks.compat.terminal import one_line
from elmo_tasks.errors import InputError

DIGITS = 12
"""Of the hash in a folder's name."""


@dataclass(frozen=True)
class Run:
    """
    # Parameters

    row : `Row`
    seed : `int`
    plan : `dict[str, Any]`
        All that decides the result: `config`, resolved and seeded; `cached`, whether the biLM's layers are kept on disk
        (rounded to float16); `file`, what is scored in place of the validation data; and of runs that build on others
        these runs' hashes: `bilm_of`, or `ensemble` with `members` and `how`.
    folder : `Path`
    """

    row: Row
    seed: int
    plan: dict[str, Any] = field(repr=False)
    folder: Path

    @property
    def digest(self) -> str:
        """The hash of the plan."""
        return digest_of(self.plan)

    @property
    def after(self) -> list[str]:
        """The hashes of the runs that it builds on."""
        ensemble = self.plan["ensemble"]
        return [digest for digest in (self.plan["bilm_of"],) if digest] + (ensemble["members"] if ensemble else [])

    @property
    def label(self) -> str:
        """For people."""
        return self.row.name if self.row.once else f"{self.row.name}, seed {self.seed}"


class Planner:
    """
    Makes the runs of a table.

    # Parameters

    table : `Table`
    home : `Path`
        The folder of the runs' folders; tables may share it, and then share runs.
    cached : `bool`
        Whether rows with ELMo keep the biLM's layers on disk, where their config allows it and names no folder itself.

    # Raises

    `InputError`
        With all rows whose base cannot be read, whose changes or seeds nobody knows or that have a wrong type, or all
        that resolve alike. Rows that need files that are not there are not looked into.
    """

    def __init__(self, table: Table, home: Path, *, cached: bool = True) -> None:
        self.table, self.home, self._cached = table, home, cached
        self.bases: dict[str, dict[str, Any]] = {}
        self.resolved: dict[str, dict[str, Any]] = {}
        self._read: dict[Path, dict[str, Any]] = {}
        problems = []
        for row in table.rows:
            if not row.missing:
                problems += [f"row {row.name}: {problem}" for problem in self._resolve(row)]
        problems = problems or [*self._ensemble_problems(), *self._alike()]
        if problems:
            raise InputError("; ".join(problems), hint=f"table {table.name}")

    def runs(self, rows: Iterable[Row], seeds: Iterable[int]) -> list[Run]:
        """The runs of these rows, those that they build on before them, none twice, none of rows with missing files."""
        found: dict[str, Run] = {}
        for row in rows:
            for seed in [1] if row.once else seeds:
                for run in self._with_others(row, seed):
                    found.setdefault(run.digest, run)
        return list(found.values())

    def run(self, row: Row, seed: int) -> Run:
        """The run of a row, which must be resolved."""
        plan = self._plan(row, seed)
        name = f"{row.name}-{digest_of(plan)}" if row.once else f"{row.name}-{seed}-{digest_of(plan)}"
        return Run(row, seed, plan, find_folder(self.home, digest_of(plan)) or self.home / name)

    def differences(self, row: Row) -> dict[str, tuple[Any, Any]]:
        """What a resolved row changes in its base; see `differences`."""
        return differences(self.bases[row.name], self.resolved[row.name])

    def _with_others(self, row: Row, seed: int) -> Iterator[Run]:
        if row.missing or any(self.table.row(name).missing for name in row.others):
            return
        if row.bilm_of:
            yield self.run(self.table.row(row.bilm_of), 1)
        if row.ensemble:
            for member in range(1, row.ensemble.members + 1):
                yield self.run(self.table.row(row.ensemble.of), member)
        yield self.run(row, seed)

    def _resolve(self, row: Row) -> Iterator[str]:
        if row.config is None:
            yield f"no such config, tried {', '.join(map(str, row.configs))}"
            return
        try:
            base = self._read.get(row.config) or self._read.setdefault(row.config, read_config(row.config))
            config = with_overrides(base, row.changes)
            seeded = with_overrides(config, dict.fromkeys(row.seed_keys, 1))
        except (RuntimeError, ValueError, KeyError) as error:
            yield one_line(error) or str(error)
            return
        self.bases[row.name], self.resolved[row.name] = base, config
        if row.bilm_of and elmo_of(config) is None:
            yield "bilm_of needs a config with model.elmo, which gets the tuned biLM"
        if found := shape_problems(seeded):
            of_base = {problem.path for problem in shape_problems(base)}
            yield from (str(problem) for problem in found if problem.path not in of_base)

    def _ensemble_problems(self) -> Iterator[str]:
        for row in self.table.rows:
            of = row.ensemble and row.ensemble.of
            if not of or not {row.name, of} <= self.resolved.keys():
                continue
            if self.resolved[of] != self.resolved[row.name]:
                yield f"row {row.name}: an ensemble has the config of its members, row {of}, and no changes of its own"
            try:
                require_probabilities(str(dict(self.resolved[of].get("model") or {}).get("type")))
            except InputError as error:
                yield f"row {row.name}: {error}"

    def _alike(self) -> Iterator[str]:
        first: dict[str, str] = {}
        for name in self.resolved:
            row = self.table.row(name)
            if any(self.table.row(other).missing for other in row.others):
                continue
            other = first.setdefault(digest_of(self._plan(row, 1)), name)
            if other != name:
                yield f"rows {other} and {name} resolve to the same config"

    def _plan(self, row: Row, seed: int) -> dict[str, Any]:
        config = with_overrides(self.resolved[row.name], dict.fromkeys(row.seed_keys, seed))
        members = []
        if row.ensemble is not None:
            of = self.table.row(row.ensemble.of)
            members = [digest_of(self._plan(of, member)) for member in range(1, row.ensemble.members + 1)]
        return {
            "config": config,
            "cached": self._cached and cacheable(config),
            "file": row.file,
            "finetune": row.finetune,
            "bilm_of": row.bilm_of and digest_of(self._plan(self.table.row(row.bilm_of), 1)),
            "ensemble": row.ensemble and {"members": members, "how": row.ensemble.how},
        }


def read_config(path: Path) -> dict[str, Any]:
    """
    A config as AllenNLP resolves it.

    # Raises

    `InputError`
        If it is no object.
    """
    found: Any = Params.from_file(path).as_dict(quiet=True)
    if not isinstance(found, dict):
        raise InputError("a config is an object", file=path)
    return found


def digest_of(plan: dict[str, Any]) -> str:
    """The hash of a plan, whatever the order of its keys."""
    canonical = json.dumps(plan, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()[:DIGITS]


def find_folder(home: Path, digest: str) -> Path | None:
    """The folder of the run with this hash, whatever its row is called there."""
    return next(iter(sorted(home.glob(f"*-{digest}"))), None)


def elmo_of(config: dict[str, Any]) -> dict[str, Any] | None:
    """The object under `model.elmo`, if the config has one."""
    model = config.get("model")
    elmo = model.get("elmo") if isinstance(model, dict) else None
    return elmo if isinstance(elmo, dict) else None


def cacheable(config: dict[str, Any]) -> bool:
    """Whether the layers of the config's biLM may be kept on disk: see `ElmoTokenEmbedder`."""
    elmo = elmo_of(config)
    if elmo is None or elmo.get("cache_dir") is not None:
        return False
    return elmo.get("state", "reset") == "reset" and elmo.get("layer_norm", False) != "batch"


def runnable(plan: dict[str, Any], home: Path) -> dict[str, Any]:
    """The config of a plan with the paths that are known only now: of the layer cache, and of a tuned biLM."""
    config = copy.deepcopy(plan["config"])
    elmo = elmo_of(config)
    if plan["cached"] and elmo is not None:
        elmo["cache_dir"] = str(home / "layers")
    if plan["bilm_of"]:
        folder = find_folder(home, plan["bilm_of"])
        if elmo is None or folder is None:
            raise InputError(f"the tuned biLM is not there: run {plan['bilm_of']}", file=home)
        exported = folder / "model" / "exported"
        elmo |= {"options_file": str(exported / "options.json"), "weight_file": str(exported / "weights.hdf5")}
    return config


def differences(before: dict[str, Any], after: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """The dotted keys in which two configs differ, with both values; `...` for none."""
    old, new = dict(flattened(before)), dict(flattened(after))
    keys = [key for key in {**old, **new} if old.get(key, ...) != new.get(key, ...)]
    return {key: (old.get(key, ...), new.get(key, ...)) for key in keys}


def flattened(value: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The leaves of nested objects and lists, by dotted keys."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from flattened(inner, f"{prefix}{key}.")
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        for place, inner in enumerate(value):
            yield from flattened(inner, f"{prefix}{place}.")
    else:
        yield prefix[:-1], value
