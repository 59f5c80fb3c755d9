"""
Registers the pretended device before any backward pass.

Tests here run in a pytest of their own (`make test` starts it): where a device beside the CPU is
registered, a backward pass starts threads, and a forked process, which other tests make, has none.
"""

from tests.gpu import pretend

if pretend.available():
    pretend.register()
