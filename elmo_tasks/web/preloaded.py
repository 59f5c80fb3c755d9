"""
What all processes of models import. Importing this module does it, in the process that
they are copies of, so that a model is started again in the time that its archive takes.
"""

import contextlib
import importlib

from elmo_tasks.errors import InputError
from elmo_tasks.host import register_classes

with contextlib.suppress(InputError):  # the process of a model says it
    register_classes()
    importlib.import_module("elmo_tasks.web.loaded")
