#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What libfuzzer.py counts for a target. A script replaces the target: it prints libFuzzer's
messages, and exits like it."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'mount'))
import harness  # noqa: E402
from libfuzzer import fuzz  # noqa: E402

case, same = harness.case, harness.same

TARGET = '''#!/usr/bin/env python3
import pathlib, sys, time
told = [word.split('=', 1)[1] for word in sys.argv if word.startswith('-artifact_prefix=')]
if not told:
    sys.exit({again})
found = pathlib.Path(told[0] + {artifact!r})
first = not found.exists()
found.write_text('input')
print('#1 INITED cov: 7 ft: 9\\nstat::number_of_executed_units: 100', file=sys.stderr)
if first and {artifact!r}:
    print(f'Test unit written to {{found}}', file=sys.stderr)
    sys.exit(70)
time.sleep(1)
'''


def run(artifact, again, seconds=1):
    """(findings, executions, edges, artifacts that are kept)"""
    with harness.scratch() as folder:
        program, seed = folder / 'fuzz_it', folder / 'seed'
        program.write_text(TARGET.format(artifact=artifact, again=again))
        program.chmod(0o755)
        seed.write_text('a seed')
        reported = fuzz(program, [seed], folder, seconds + 0.3)
        kept = [path.name for path in (folder / 'findings/it').iterdir() if path.suffix != '.log']
        same((folder / 'seeds/it/seed').read_text(), 'a seed')
        return reported['findings'], reported['executions'] > 0, reported['edges'], kept


@case
def an_input_that_breaks_something_is_counted_and_kept():
    same(run('crash-1', again=0, seconds=2), (1, True, 7, ['crash-1']))


@case
def an_input_that_takes_long_is_counted():
    same(run('timeout-1', again=1, seconds=2), (1, True, 7, ['timeout-1']))


@case
def an_input_during_which_others_had_the_processor_is_not():
    found = run('timeout-1', again=0)
    same((found[0], found[3]), (0, []))


@case
def a_seed_that_is_missing_is_an_error():
    with harness.scratch() as folder:
        try:
            fuzz('/bin/true', [folder / 'missing'], folder, 1)
        except FileNotFoundError:
            return
    raise AssertionError('it went on without its seed')


harness.run(needs_fuse=False)
