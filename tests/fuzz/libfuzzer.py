# SPDX-License-Identifier: MIT
"""Run a target with libFuzzer.

usage: libfuzzer.py SECONDS PROGRAM SEED...        once, keeping nothing: exit status 1 if something was found
"""
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SECONDS = 10
# Limit for one input; seeds take a hundredth of it. Without entropic scheduling: its bookkeeping
# for each feature of each input took a third of the time for inputs with thousands of features.
LIMITS = [f'-timeout={SECONDS}', '-rss_limit_mb=1024', '-malloc_limit_mb=300', '-entropic=0']
ENVIRONMENT = {
    # Freed memory is kept back for a while; the default amount exceeds a processor's cache.
    'ASAN_OPTIONS': 'strict_string_checks=1:quarantine_size_mb=8:malloc_context_size=2',
    'UBSAN_OPTIONS': 'halt_on_error=1:print_stacktrace=1',
}
MAX_FINDINGS = 10  # findings of a target in one run: further ones are likely the same
EXECUTED = re.compile(r'stat::number_of_executed_units:\s+(\d+)')
TOO_LONG = re.compile(r'Test unit written to (\S+/timeout-\w+)')
EDGES = re.compile(r'\bcov: (\d+)')


def took_long(program, log):
    """libFuzzer measures wall time. Does an input also take as long in CPU time?"""
    reported = TOO_LONG.search(log)
    if not reported:
        return True
    again = subprocess.run([program, '-timeout=600', reported[1]], env={**os.environ, **ENVIRONMENT},
                           stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL,
                           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS)))
    if again.returncode == 0:
        Path(reported[1]).unlink()
    return again.returncode != 0


def fuzz(program, seeds, folder, seconds):
    """Until the time is over; restarts after each finding. Below `folder`: corpus, findings with
    their logs, seeds."""
    program = Path(program).resolve()
    name = program.name.removeprefix('fuzz_')
    corpus, findings, given = (folder / part / name for part in ('corpus', 'findings', 'seeds'))
    shutil.rmtree(given, ignore_errors=True)
    for part in corpus, findings, given:
        part.mkdir(parents=True, exist_ok=True)
    for seed in seeds:
        shutil.copy(seed, given)
    run = {'target': name, 'seconds': 0, 'executions': 0, 'edges': 0, 'findings': 0}
    start, left = time.monotonic(), seconds
    while left >= 1 and run['findings'] < MAX_FINDINGS:
        done = subprocess.run(
            [program, f'-max_total_time={int(left)}', '-print_final_stats=1', '-verbosity=1', '-reload=0',
             f'-artifact_prefix={findings}/', *LIMITS, corpus, given],
            cwd=folder, env={**os.environ, **ENVIRONMENT}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            encoding='utf-8', errors='replace')
        run['executions'] += sum(map(int, EXECUTED.findall(done.stderr)))
        run['edges'] = max([run['edges'], *map(int, EDGES.findall(done.stderr))])
        if done.returncode != 0 and took_long(program, done.stderr):
            run['findings'] += 1
            (findings / f'{run["findings"]}-{int(time.time())}.log').write_text(done.stderr[-20000:])
            if not EXECUTED.search(done.stderr):
                break  # it does not even start
        left = seconds - (time.monotonic() - start)
    run['seconds'] = round(time.monotonic() - start)
    return run


def main(seconds, program, *seeds):
    with tempfile.TemporaryDirectory(prefix='ntuple-fuzz-') as folder:
        run = fuzz(program, seeds, Path(folder), float(seconds))
        for log in sorted(Path(folder).glob('findings/*/*.log')):
            print(log.read_text())
    print(run)
    return 1 if run['findings'] or not run['executions'] else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
