# SPDX-License-Identifier: MIT
"""A ROOT file with a tree and a directory of one name, which ROOT writes and uproot refuses to write."""
from pathlib import Path

import numpy as np


def write_shared_name(path):
    """The tree run has x = 7. The directory run has the tree ev with y = 8."""
    import uproot
    with uproot.recreate(path) as file:
        file.mktree('run', {'x': 'i4'}).extend({'x': np.array([7], 'i4')})
        file.mkdir('dir').mktree('ev', {'y': 'i4'}).extend({'y': np.array([8], 'i4')})
    content = Path(path).read_bytes()
    length = b'\3'   # of the name, in front of it
    assert length + b'dir' in content
    Path(path).write_bytes(content.replace(length + b'dir', length + b'run'))
