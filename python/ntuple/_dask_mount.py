# SPDX-License-Identifier: MIT
"""A mount on each machine of a dask cluster, for programs that read files."""
from __future__ import annotations

import contextlib
import os
from typing import Any

from . import _lazy
from ._mount import mount

_distributed = _lazy.module('distributed')


class Mount(_distributed.WorkerPlugin):  # type: ignore[misc, name-defined]
    """Mounts a source on every worker, and unmounts it when the worker ends:

        client.register_plugin(ntuple.dask.Mount('https://host/run.root', '/tmp/run'))

    Workers of one machine have one process or a path of their own: `{worker}` in the path stands for
    the worker's name. `options` are those of `ntuplefs -o`. A task finds the path of its worker's tree in
    `get_worker().plugins['ntuple'].path`.
    """

    name = 'ntuple'
    idempotent = True

    def __init__(self, source: str, path: str, **options: Any) -> None:
        self._source = source
        self._path = path
        self._options = options

    def setup(self, worker: Any) -> None:
        name = str(worker.name).replace('/', '_')
        self.path = self._path.replace('{worker}', name)
        self._mounted = contextlib.ExitStack()
        self._mounted.enter_context(mount(self._source, self.path, **self._options))

    def teardown(self, worker: Any) -> None:
        self._mounted.close()

    def __reduce__(self) -> Any:
        return _mount_of, (self._source, self._path, self._options)


def _mount_of(source: str, path: str, options: Any) -> Mount:
    return Mount(os.fspath(source), path, **options)
