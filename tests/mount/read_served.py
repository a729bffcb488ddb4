# SPDX-License-Identifier: MIT
"""Read files of tests/data from a server on this machine by an installed ntuple, and compare with
reading them as files. For packaging/: a build that lacks the network helper fails here.

usage: read_served.py        NTUPLE, NTUPLEFS and NTUPLE_TEST_DATA as for the tests
"""
import sys

from harness import DATA, NTUPLE, command
from web import served

FILES = 'example.root', 'types.root', 'lance_numbers_2.0.lance'


def differs(name, site):
    local, remote = (command(NTUPLE, 'verify', '--json', source) for source in (DATA / name, site.url(name)))
    if remote.returncode or local.returncode:
        print(f'FAIL {site.url(name)}: {remote.stderr.decode()}{local.stderr.decode()}')
    return remote.returncode or local.returncode


with served(DATA) as served_site:
    FAILED = [name for name in FILES if differs(name, served_site)]
print(f'{len(FILES) - len(FAILED)} passed, {len(FAILED)} failed: files read from a server')
sys.exit(bool(FAILED))
