# SPDX-License-Identifier: MIT
"""A mount for each worker of a dask cluster, for programs that read files."""
from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

from . import _lazy
from ._mount import mount

_distributed = _lazy.module('distributed')


class Mount(_distributed.WorkerPlugin):  # type: ignore[misc, name-defined]
    """Mounts a source on every worker, and unmounts it when the worker ends:

        client.register_plugin(ntuple.dask.Mount('https://host/run.root'))

    A task finds the tree at `distributed.get_worker().plugins['ntuple'].path`. `options` are those of
    `ntuplefs -o`.
    """

    name = 'ntuple'

    def __init__(self, source: str, **options: Any) -> None:
        self._source = source
        self._options = options

    def setup(self, worker: Any) -> None:
        self._mounted = contextlib.ExitStack()
        self.path: Path = self._mounted.enter_context(mount(self._source, **self._options))

    def teardown(self, worker: Any) -> None:
        self._mounted.close()
