#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run the tests of package ntuple with pytest and print a line for each case, like the other
tests. Exit status 1 if one failed, 77 (shown by meson as skipped) without pytest or NumPy.

usage: run_tests.py [ARGUMENT OF PYTEST]...        PYTHONPATH has the package, or it is installed
"""
import sys
from pathlib import Path

sys.dont_write_bytecode = sys.pycache_prefix is None  # else in a directory of the build


class Lines:
    """A line for each case, and why it failed or was skipped."""

    def pytest_runtest_logreport(self, report):
        name = report.nodeid.partition('::')[2].removeprefix('test_').replace('_', ' ')
        if report.failed:
            print(f'FAIL {name}\n{report.longreprtext}', flush=True)
        elif report.skipped:
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longreprtext
            print(f'skip {name}: {reason.removeprefix("Skipped: ")}', flush=True)
        elif report.when == 'call':
            print(f'ok   {name}', flush=True)

    def pytest_collectreport(self, report):
        if report.failed:
            print(f'FAIL {report.nodeid}\n{report.longreprtext}', flush=True)
        elif report.skipped:
            print(f'skip {report.nodeid}: {report.longrepr[2].removeprefix("Skipped: ")}', flush=True)


def main(arguments):
    try:
        import numpy  # noqa: F401
        import pytest
    except ImportError as error:
        print(f'skip everything: {error.name} is not installed')
        return 77
    folder = Path(__file__).resolve().parent
    status = pytest.main(['-p', 'no:terminal', '-p', 'no:cacheprovider', '--rootdir', str(folder),
                          *arguments, str(folder)],
                         plugins=[Lines()])
    return 0 if status == pytest.ExitCode.OK else 1


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
