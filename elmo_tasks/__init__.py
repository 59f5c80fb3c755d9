"""
The models of "Deep contextualized word representations" (Peters et al., 2018) as an
AllenNLP plugin.

Axis legend: one letter per axis, used in every shape comment and docstring of the
package.

| letter | axis |
|---|---|
| B | sentences of a batch |
| T | tokens of a sentence |
| C | characters of a token |
| L | layers of the biLM |
| D | width of a vector |
| S | spans |
| K | antecedents of a span |
"""

__version__ = "0.1.0"
