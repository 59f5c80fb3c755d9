import importlib
import inspect
import json
import os
import pkgutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin

import pytest
from allennlp.common import FromParams, Lazy

import elmo_tasks
from elmo_tasks import plugin
from elmo_tasks.host import _set_cache_folder
from tests.package import registered


def test_allennlp_has_a_cache_without_a_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "no/home"))
    monkeypatch.setenv("ALLENNLP_CACHE_ROOT", "")
    monkeypatch.delenv("ALLENNLP_CACHE_ROOT")
    _set_cache_folder()
    assert Path(os.environ["ALLENNLP_CACHE_ROOT"]).is_dir()


@pytest.fixture(scope="module")
def everything_imported() -> None:
    """Imports every module of the package."""
    for module in pkgutil.walk_packages(elmo_tasks.__path__, "elmo_tasks."):
        if not module.name.startswith(
            "elmo_tasks.integrations."
        ):  # they import other libraries
            importlib.import_module(module.name)


def test_the_plugin_imports_what_is_registered(everything_imported: None) -> None:
    packages = [one.cls.__module__.split(".")[1] for one in registered()]
    assert len(packages) > 50
    assert set(packages) <= set(plugin.PACKAGES)


def constructors() -> Iterator[Callable[..., Any]]:
    """Every function of the package that AllenNLP calls with parts of a config."""
    classes: list[type] = [FromParams]
    for cls in classes:
        classes += cls.__subclasses__()
    for cls in classes:
        if cls.__module__.startswith("elmo_tasks"):
            yield cls.__init__
    for one in registered():
        yield one.call


def parts(annotation: Any) -> Iterator[Any]:
    yield annotation
    for argument in get_args(annotation):
        yield from parts(argument)


@pytest.mark.skipif(
    sys.version_info >= (3, 14), reason="Optional[X] and X | None are the same there"
)
def test_constructors_have_no_objects_in_new_unions(everything_imported: None) -> None:
    """
    AllenNLP constructs an `Optional[X]` of a config, but passes the dictionary for `X |
    None`.
    """
    for constructor in constructors():
        for name, parameter in inspect.signature(constructor).parameters.items():
            for union in parts(parameter.annotation):
                if isinstance(union, UnionType):
                    message = f"{constructor}, {name}: expected Optional or Union"
                    assert not has_objects(union), message


def has_objects(annotation: Any) -> bool:
    """Whether AllenNLP would construct a part of a value of this type from a config."""
    for part in parts(annotation):
        if hasattr(part, "from_params") or get_origin(part) is Lazy:
            return True
    return False


WITHOUT_H5PY = """
import sys
import elmo_tasks.host
elmo_tasks.host.load_allennlp()
sys.modules["h5py"] = None  # as if it were not installed
try:
    import elmo_tasks.plugin
except ImportError as error:
    print(type(error).__name__, error)
"""


@pytest.mark.slow
def test_missing_module_is_an_error() -> None:
    """No `ModuleNotFoundError`, which AllenNLP would only log."""
    shown = in_a_fresh_python(WITHOUT_H5PY)
    assert shown.startswith("ImportError the plugin elmo_tasks cannot be imported: ")
    assert "h5py" in shown


MODULES = "import json, sys, elmo_tasks.plugin; print(json.dumps([n for n in sys.modules if n[:10] != 'elmo_tasks']))"

CHANGES = """
import builtins, contextlib, importlib, inspect, json, logging, os, signal, sys, warnings

for name in json.load(sys.stdin):  # so that the plugin is the only cause of what changes
    with contextlib.suppress(Exception):
        importlib.import_module(name)
import torch

def attributes():
    modules = [module for name, module in sys.modules.items() if name.split(".")[0] == "allennlp"]
    classes = [value for module in modules for value in vars(module).values() if inspect.isclass(value)]
    for owner in [builtins, *modules, *(cls for cls in classes if cls.__module__.startswith("allennlp"))]:
        own = dict(vars(owner), __bases__=getattr(owner, "__bases__", None))
        for name in own.keys() - {"__annotations__", "__warningregistry__"}:  # Python adds them when they are used
            yield f"{getattr(owner, '__module__', '')} {owner.__name__}.{name}".strip(), own[name]

def settings():
    return {
        "sys hooks": [sys.excepthook, sys.unraisablehook, sys.displayhook, *sys.meta_path, *sys.path_hooks],
        "environment": dict(os.environ),
        "warning filters": list(warnings.filters),
        "safe globals": set(torch.serialization.get_safe_globals()),
        "signals": [signal.getsignal(number) for number in signal.valid_signals()],
        "logging": [logging.raiseExceptions, logging.getLoggerClass(), *logging.getLogger().handlers],
    }

before, settings_before = dict(attributes()), settings()
import elmo_tasks.plugin
after, settings_after = dict(attributes()), settings()
changed = [name for name in before.keys() | after if before.get(name, ...) is not after.get(name, ...)]
print(json.dumps(sorted(changed) + [name for name, value in settings_before.items() if value != settings_after[name]]))
"""


def in_a_fresh_python(code: str, given: str = "") -> str:
    return subprocess.run(
        [sys.executable, "-c", code],
        input=given,
        capture_output=True,
        text=True,
        check=True,
    ).stdout


@pytest.mark.slow
def test_importing_the_plugin_changes_registries_only() -> None:
    assert json.loads(in_a_fresh_python(CHANGES, in_a_fresh_python(MODULES))) == []
