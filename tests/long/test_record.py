# SPDX-License-Identifier: MIT
"""The record of long runs: their versions and results."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'mount'))
import harness  # noqa: E402
import record  # noqa: E402

case, same = harness.case, harness.same


def reported(answer):
    """What is recorded of a program with this answer."""
    with harness.scratch() as folder:
        program = folder / 'program'
        program.write_text(f"#!/bin/sh\n[ \"$1\" = --version ] && printf '{answer}'\n")
        program.chmod(0o755)
        return record.commit(program).removesuffix('+')


@case
def the_commit_is_that_which_the_program_says():
    same(reported('ntuple 1.2.3\\ncommit 0123abcd\\nlibfuse 3.14.0\\n'), '0123abcd')
    same(reported('ntuple 1.2.3\\ncommit 0123abcd-dirty\\n'), '0123abcd')


@case
def a_program_that_says_none_is_of_an_unknown_one():
    same(reported('ntuple 1.2.3\\n'), 'unknown')


@case
def what_is_counted_is_summed_and_of_others_the_last_line_is_reported():
    same(record.result('3 passed, 0 failed\nbetween\n4 passed, 1 failed\n2 rounds\n'), '7 passed, 1 failed')
    same(record.result('a.root: 900 points, 2 tried, 0 of them errors\n/b: c: 600 points, 1 tried, 1 of '
                       'them errors\n100%: Checks: 2\n'),
         '1,500 points, 3 tried, 1 of them errors')
    same(record.result('ok   a: 8 executions, 9 edges, 0 found\n1,008 executions of 2 targets, 0 found\n'),
         '1,008 executions of 2 targets, 0 found')
    same(record.result('1/2 a OK 1 s\nOk:                 7   \nFail:               1   \nTimeout:         '
                       '   0   \nFull log written to b\n'), '7 ok, 1 fail')
    same(record.result(f'made {record.ROOT}/build/it\n'), 'made build/it')
    same(record.result('first\n  last  \n\n'), 'last')
    same(record.result(''), '')


@case
def the_table_has_the_last_run_of_each_part():
    run = {'part': 'a', 'verdict': 'FAIL', 'date': '2026-01-01', 'commit': '0', 'seconds': 89,
           'result': 'x|y'}
    rows = record.table([run, {**run, 'part': 'b'}, {**run, 'verdict': 'ok',
                                                     'commit': '1'}]).removeprefix(record.HEAD).splitlines()
    same(rows, ['| a | ok | 2026-01-01 | 1 | 1 | x\\|y |', '| b | FAIL | 2026-01-01 | 0 | 1 | x\\|y |'])


harness.run(needs_fuse=False)
