"""
A file of `torch.save` is read without running code in it. Those of other models: their
own tests; of archives: tests/archives/test_hostile.py.
"""

from pathlib import Path

import pytest
import torch

from elmo_tasks.errors import InputError
from elmo_tasks.pretraining.export import export_run
from tests.elmo.samples import Code
from tests.pretraining import toy


def test_a_run_with_code(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    toy.fake_run(folder)
    torch.save({"a": Code(tmp_path / "trace")}, folder / "best.th")
    with pytest.raises(InputError) as caught:
        export_run(folder, tmp_path / "exported")
    assert "\n" not in str(caught.value) and not (tmp_path / "trace").exists()
