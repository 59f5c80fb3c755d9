"""
Lets AllenNLP find the plugin from any folder, without a plugins file.

AllenNLP 2.10.1 imports the plugins that `.allennlp_plugins` in the current folder or `~/.allennlp/plugins` lists, and
those of a fixed list, `allennlp.common.plugins.DEFAULT_PLUGINS`. The wheel puts this module at the root of
site-packages, with a `.pth` file of the same name that imports it when Python starts. It only adds one object to
`sys.meta_path`, which appends the plugin to the list when AllenNLP imports the module that holds it.

It can go when AllenNLP reads entry points.
"""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

PLUGIN = "elmo_tasks.plugin"
HOLDER = "allennlp.common.plugins"


class PluginFinder:
    """Finds AllenNLP's module of plugins, whose list gets one more when it is executed; finds nothing else."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path) if name == HOLDER else None
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            vars(module)["DEFAULT_PLUGINS"] = (*vars(module).get("DEFAULT_PLUGINS", ()), PLUGIN)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def install() -> None:
    """Puts the finder before all others, once."""
    if not any(isinstance(finder, PluginFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, PluginFinder())


install()
