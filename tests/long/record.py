#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The last result of each part of scripts/long: runs.jsonl has a line for each run, docs/long.md
has the table of the last ones.

usage: record.py commit [PROGRAM]                       the version of a program that was just
                                                        built; default: the commit that is
                                                        checked out
       record.py NAME VERDICT SECONDS COMMIT LOG        after a part has run
       record.py                                        writes the table again
"""
import collections
import datetime
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
RUNS, TABLE = ROOT / 'tests/long/runs.jsonl', ROOT / 'docs/long.md'
MOST = 160  # characters of a part's result
CELL = 100  # of these in the table, which fits a terminal
DIGITS = 8  # of a commit, as programs print it
COUNTS = re.compile(r'^(?:.*: )?(\d+ (?:passed|points|tried)(?:, \d+ [a-z ]+)+)$', re.M)
MESON = re.compile(r'^(Ok|Fail|Timeout): +(\d+) *$', re.M)
HEAD = """# Long runs

This page is for developers who want to know when each part of `scripts/long` last ran, and with
which result. These tests take longer than `scripts/test` may take.

`scripts/long` writes this table. `tests/long/runs.jsonl` has all runs, and this table has the last
run of each part. [reliability.md](reliability.md) describes the parts.

- *commit* is the source of the build; `+` means that it had changes on top of this commit.
- *what it gave* is the last message of the part. A *point* is one allocation or call that can fail.
- *chosen* sweeps read with a selection.

| part | verdict | last ran | commit | minutes | what it gave |
|---|---|---|---|---|---|
"""


def git(*arguments):
    run = subprocess.run(['git', '-C', str(ROOT), *arguments], capture_output=True, text=True)
    return run.stdout.strip() if run.returncode == 0 else ''


def commit(program=None):
    """Programs call themselves changed if any file is, including these records. The tree shows
    whether the code was."""
    reported = subprocess.run([program, '--version'], capture_output=True, text=True,
                          check=True).stdout if program else \
        f"commit {git('rev-parse', f'--short={DIGITS}', 'HEAD')}"
    name = re.search('^commit ([0-9a-f]+)', reported, re.M)
    changes = git('status', '--porcelain', '--untracked-files=no', '--', 'src', 'include', 'tests',
                  ':!tests/long')
    return (name[1] if name else 'unknown') + ('+' if changes else '')


def result(log):
    """The end of a log. If it counts each round or each file, the sums: 3 passed, 1 failed; for
    tests of meson, how many passed. Paths are relative."""
    sums = collections.Counter()
    for counts in COUNTS.findall(log):
        sums.update({word: int(number) for number, word in (count.split(' ', 1)
                                                            for count in counts.split(', '))})
    if sums:
        return ', '.join(f'{number:,} {word}' for word, number in sums.items())
    lines = [line.strip() for line in log.replace(f'{ROOT}/', '').splitlines() if line.strip()]
    if lines and lines[-1].startswith('Full log written'):
        return ', '.join(f'{number} {word.lower()}' for word, number in MESON.findall(log) if word == 'Ok'
                         or number != '0')
    return lines[-1][:MOST] if lines else ''


def add(name, verdict, seconds, made_of, log):
    date = datetime.datetime.now(datetime.timezone.utc).strftime('%Y-%m-%d')
    run = {'part': name, 'verdict': verdict, 'date': date, 'commit': made_of, 'seconds': int(seconds),
           'result': result(Path(log).read_text(errors='replace'))}
    with open(RUNS, 'a') as file:
        file.write(json.dumps(run) + '\n')


def shortened(text):
    return text if len(text) <= CELL else text[:CELL - 1] + '…'


def table(runs):
    last = {run['part']: run for run in runs}
    return HEAD + ''.join(
        f"| {run['part']} | {run['verdict']} | {run['date']} | {run['commit']} | {run['seconds'] / 60:.0f} | "
        f"{shortened(run['result']).replace('|', chr(92) + '|')} |\n" for _, run in sorted(last.items()))


def main():
    if sys.argv[1:2] == ['commit']:
        print(commit(*sys.argv[2:]))
        return
    if len(sys.argv) > 1:
        add(*sys.argv[1:])
    TABLE.write_text(table([json.loads(line) for line in RUNS.read_text().splitlines()]))


if __name__ == '__main__':
    main()
