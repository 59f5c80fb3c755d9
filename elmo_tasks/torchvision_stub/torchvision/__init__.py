"""
An empty torchvision. AllenNLP imports it at its start and uses it on images alone;
PyPI's cannot be imported beside a CPU build of torch ("operator torchvision::nms does
not exist"). Nothing else can import this one.
"""

import sys

if "allennlp" not in sys.modules:
    raise ImportError(
        "this torchvision is empty and for AllenNLP alone: pip uninstall"
        " torchvision-stub-for-allennlp, and install torchvision for your torch"
    )
