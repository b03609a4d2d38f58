"""Lets single reads and writes of a host fail, or end the process that does them."""

import builtins
import errno
import os
from collections.abc import Callable
from typing import Any

import pytest

from hosts.linux.fake_kernel import FakeKernel


class ProcessEndsError(BaseException):
    """The process is killed: nothing catches it, and nothing that it does afterwards has an effect."""


class Faults:
    """Counts what is read and written below the root of a kernel. ``failing`` is what fails, counted from 0.

    Each write counts twice: it may fail without an effect, and after it had one.
    """

    def __init__(self, kernel: FakeKernel, patch: pytest.MonkeyPatch) -> None:
        self._kernel = kernel
        self.failing: int | None = None
        self.count = 0
        self.makes: Callable[[str], BaseException] = lambda path: OSError(errno.EIO, os.strerror(errno.EIO), path)
        self._is_over = False
        self._reads = True
        kernel.disturb = lambda path, _done: self._pass(path)
        for module, name in ((os, "open"), (os, "readlink"), (os, "listdir"), (builtins, "open")):
            patch.setattr(module, name, self._watched(getattr(module, name)))

    def kill_at(self, point: int) -> None:
        """The process ends at a write, or as a step is journalled."""
        self._reads = False
        self.failing = point
        self.makes = lambda _path: ProcessEndsError()

    def journal(self, _step: object) -> None:
        """To be called as a step is journalled, which counts too."""
        self._pass("journal")

    def end(self) -> None:
        """Nothing fails any more; another process may do things."""
        self.failing = None
        self._is_over = False

    def _watched(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(path: Any, *arguments: Any, **named: Any) -> Any:
            if isinstance(path, str) and path.startswith(str(self._kernel.root)) and not self._kernel.is_at_work:
                self._look(path)
            return real(path, *arguments, **named)

        return call

    def _look(self, path: str) -> None:
        if self._is_over:
            raise self.makes(path)
        if self._reads:
            self._pass(path)

    def _pass(self, path: str) -> None:
        if self._is_over:
            raise self.makes(path)
        now, self.count = self.count, self.count + 1
        if now == self.failing:
            error = self.makes(path)
            self._is_over = isinstance(error, ProcessEndsError)
            raise error
