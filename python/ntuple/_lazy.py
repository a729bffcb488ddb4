# SPDX-License-Identifier: MIT
"""Packages that only some functions need, imported when they are needed."""
from __future__ import annotations

import importlib
from typing import Any


def module(name: str, package: str = '') -> Any:
    """A module. ImportError says what to install if there is none."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = package or name.partition('.')[0]
        raise ImportError(f'this needs {name}: pip install {package} ({error})', name=name) from None
