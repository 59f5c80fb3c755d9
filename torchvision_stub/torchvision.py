"""
An empty torchvision for the program `allennlp`, which imports torchvision at its start
and uses it for images only. PyPI's cannot be imported next to a CPU build of torch
("operator torchvision::nms does not exist").

It is a module, and the real torchvision is a package. Python prefers a package, and the
two have no file in common, so installing both leaves the real one as it was.
"""

import sys
from types import ModuleType

if "allennlp" not in sys.modules:
    raise ImportError(
        "this torchvision is empty and only for AllenNLP: pip uninstall"
        " torchvision-stub-for-allennlp, and install torchvision for your torch"
    )

for _name in ("torchvision.ops", "torchvision.ops.boxes"):
    sys.modules[_name] = ModuleType(_name)
