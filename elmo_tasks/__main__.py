"""`elmo-tasks COMMAND ...` and `python -m elmo_tasks COMMAND ...`: `allennlp COMMAND ...` with this plugin loaded."""

import importlib
import sys
from pathlib import Path

SITE_MODULES = ("elmo_tasks_torchvision", "elmo_tasks_plugin")
"""Modules that the `.pth` files import when Python starts; here for a Python that ignores them."""

sys.path.append(str(Path(__file__).parent / "compat" / "site"))
for _name in SITE_MODULES:
    importlib.import_module(_name)


def main() -> None:
    """Runs AllenNLP's command line."""
    import allennlp.__main__  # noqa: F401 (sets up logging)
    from allennlp.commands import main as run_command
    from allennlp.common.util import install_sigterm_handler

    install_sigterm_handler()
    run_command(prog="elmo-tasks")


if __name__ == "__main__":
    main()
