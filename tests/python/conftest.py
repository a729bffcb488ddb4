# SPDX-License-Identifier: MIT
"""The paths of the tests' files."""
import os
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get('NTUPLE_TEST_DATA', TESTS / 'data'))
# Fields that uproot reads wrongly or not at all.
NOT_BY_UPROOT = {
    'damaged_page': 'it does not check what it reads',
    'merged': 'it puts zeros where entries have no elements after the others',
    'multi_representation': 'it does not know that columns are represented twice',
    'split_keys': 'it does not put the parts of a key together',
}
# The same for types.
TYPES_NOT_BY_UPROOT = ('std::unique_ptr<',)
sys.path.insert(0, str(TESTS / 'render'))


# Files of one schema, which make a chain.
CHAIN = [DATA / f'compression_{name}.root' for name in ('lz4', 'none', 'zstd')]


@pytest.fixture(scope='module')
def expected():
    """All entries of CHAIN, as uproot reads them."""
    uproot, awkward = pytest.importorskip('uproot'), pytest.importorskip('awkward')
    return awkward.concatenate([uproot.open(path)['compressed'].arrays() for path in CHAIN])


@pytest.fixture
def example():
    """The path of a file with a field of nearly every kind."""
    return DATA / 'example.root'


@pytest.fixture
def events(example):
    import ntuple
    with ntuple.open(example) as file:
        yield file['Events']


@pytest.fixture
def data():
    return DATA
