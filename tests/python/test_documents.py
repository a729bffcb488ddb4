# SPDX-License-Identifier: MIT
"""Schema and layout agree with the programs; mounts are those of ntuplefs."""
import json
import os
import shutil
import subprocess
import tempfile

import ntuple
import numpy as np
import pytest

NTUPLE = os.environ.get('NTUPLE') or shutil.which('ntuple')


@pytest.fixture
def program():
    if not NTUPLE:
        pytest.skip('the program ntuple is not installed')
    return lambda *arguments: subprocess.run([NTUPLE, *map(str, arguments)], check=True,
                                             capture_output=True).stdout.decode()


def test_a_schema_is_what_the_program_says(events, example, program):
    reported = json.loads(program('schema', '--json', example, 'Events'))['datasets'][0]
    assert events.schema.fields == reported['fields']
    assert str(events.schema) + '\n' == program('schema', example, 'Events')


def test_a_layout_is_what_the_program_says(events, example, program):
    lines = [json.loads(line) for line in program('cat', example, 'layout.jsonl').splitlines()]
    assert events.file.layout() == lines
    assert events.layout() == [line for line in lines if line.get('dataset') == 'Events'] != []


def test_the_version_is_one(program):
    assert ntuple.__version__ in program('--version')
    assert 'rntuple' in ntuple.formats()


def fuse_problem():
    if not os.access('/dev/fuse', os.R_OK | os.W_OK):
        return '/dev/fuse cannot be used'
    if not shutil.which('ntuplefs'):
        return 'the program ntuplefs is not installed'
    return None


def test_a_mount_lasts_as_long_as_its_with(example):
    if fuse_problem():
        pytest.skip(fuse_problem())
    with ntuple.mount(example, text='sized', readonly=False) as path:
        pt = np.load(path / 'Events/muons/_0/pt/data.npy', mmap_mode='r')
        with ntuple.open(example) as file:
            assert np.array_equal(pt, file['Events']['muons/_0/pt'])
        del pt
    assert not path.exists()


def test_a_mount_ends_with_an_exception_and_while_it_is_used(example):
    if fuse_problem():
        pytest.skip(fuse_problem())
    with pytest.raises(RuntimeError, match='mine'):
        with ntuple.mount(example) as path:
            with open(path / 'file.json'):
                raise RuntimeError('mine')
    assert not path.exists()


def test_what_cannot_be_mounted_says_why(tmp_path, monkeypatch):
    if fuse_problem():
        pytest.skip(fuse_problem())
    monkeypatch.setattr(tempfile, 'tempdir', str(tmp_path))
    with pytest.raises(ntuple.MountError, match='nothing.root'):
        with ntuple.mount(tmp_path / 'nothing.root'):
            pass
    assert not list(tmp_path.iterdir())


def test_no_program_and_no_device_are_named(example, monkeypatch):
    monkeypatch.setenv('PATH', '/nonexistent')
    monkeypatch.setattr('sysconfig.get_path', lambda *names: '/nonexistent')
    monkeypatch.setattr('sys.executable', '/nonexistent/python3')
    with pytest.raises(ntuple.MountError, match='ntuplefs is not installed'):
        with ntuple.mount(example):
            pass
    monkeypatch.setattr('ntuple._mount.program', lambda name: name)
    monkeypatch.setattr('ntuple._mount._problem', lambda: '/dev/fuse: Permission denied')
    with pytest.raises(ntuple.MountError, match='/dev/fuse: Permission denied'):
        with ntuple.mount(example):
            pass


def test_a_wheel_names_its_helper_and_certifis_authorities(monkeypatch):
    """What the user has set stays."""
    certifi = pytest.importorskip('certifi')
    from ntuple import _mount
    monkeypatch.setattr(_mount, '_script', lambda name: f'/wheel/{name}')
    for own in {}, {'NTUPLE_FETCH': '/own', 'NTUPLE_CA_BUNDLE': '/authorities'}:
        monkeypatch.setattr(_mount.os, 'environ', dict(own))
        _mount.name_helper()
        assert _mount.os.environ == {'NTUPLE_FETCH': '/wheel/ntuplefs-fetch',
                                     'NTUPLE_CA_BUNDLE': certifi.where(), **own}
