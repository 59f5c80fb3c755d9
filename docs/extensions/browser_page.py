"""ELMo in the browser: the files that its page loads."""

import shutil
import sys
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

FOLDER = Path(__file__).resolve().parents[1] / "browser"
sys.path.append(str(FOLDER))


def copy_files(app: Sphinx, exception: Exception | None) -> None:
    """Writes scripts, styles and the model beside the page."""
    if exception is not None or "browser/index" not in app.env.found_docs:
        return
    from export import export  # imports PyTorch

    target = Path(app.outdir) / "browser"
    for file in FOLDER.glob("*.*s"):  # .js and .css
        shutil.copy(file, target)
    export(target)


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("build-finished", copy_files)
    return {"parallel_read_safe": True}
