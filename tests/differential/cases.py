# SPDX-License-Identifier: MIT
"""The cases of a script that compares NTUPLE's output for random files with what their writer's
own reader finds.

usage of each such script: SCRIPT [-n SEEDS] [-s FIRST_SEED] [-k KEEP_DIRECTORY] NTUPLE

Each seed makes one file or a few. Each file is a case: a line, and its problems. Failed files
stay in KEEP_DIRECTORY. The last line is 'N passed, N failed'. Exit status 1 if one failed or
there was none, 77 (shown by meson as skipped) without the writer.
"""
import argparse
import importlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'support'))


def need(*packages):
    """Python packages that a script needs."""
    try:
        return [importlib.import_module(package) for package in packages]
    except ImportError as error:
        print(f'skip everything: {error}')
        sys.exit(77)


def command(*arguments, timeout=None):
    return subprocess.run([str(argument) for argument in arguments], capture_output=True, text=True,
                          errors='replace',
                          timeout=timeout)


def problems_of_run(*arguments):
    run = command(*arguments)
    return [f'{arguments[1]}: {run.returncode} {run.stderr.strip()[:400]}'] if run.returncode else []


def problems_of_copy(ntuple, source, compare, *options):
    """compare(tree) returns the problems of the tree of a source, which is copied and verified
    completely."""
    with tempfile.TemporaryDirectory() as copy:
        tree = Path(copy, 'tree')
        return problems_of_run(ntuple, 'cp', '-r', *options, source, tree) or \
            compare(tree) + problems_of_run(ntuple, 'verify', *options, source)


def parse(document):
    parser = argparse.ArgumentParser(description=document.split('\n\n')[0])
    parser.add_argument('-n', '--count', type=int, default=20)
    parser.add_argument('-s', '--first-seed', type=int, default=1)
    parser.add_argument('-k', '--keep', type=Path)
    parser.add_argument('ntuple')
    return parser.parse_args()


def run_cases(document, write, problems):
    """write(seed, directory) makes the files and returns [(path, a few words)]; if it raises or
    panics, there is nothing to compare. problems(ntuple, path) returns the problems. Returns the
    exit status."""
    arguments = parse(document)
    passed = failed = 0
    for seed in range(arguments.first_seed, arguments.first_seed + arguments.count):
        with tempfile.TemporaryDirectory(prefix='random-ntuple-') as directory:
            try:
                written = write(seed, Path(directory))
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # panics of pylance, too
                print(f'skip {seed}: not written: {type(error).__name__} {str(error)[:150]}', flush=True)
                continue
            for path, reported in written:
                try:
                    found = problems(arguments.ntuple, path)
                except Exception as error:  # a file that cannot be compared is not valid
                    found = [f'{type(error).__name__} {str(error)[:400]}']
                print(f'{"FAIL" if found else "ok  "} {path.name} {reported}', *found[:3], sep='\n     ',
                      flush=True)
                passed, failed = passed + (not found), failed + bool(found)
                if found and arguments.keep:
                    shutil.copytree(directory, arguments.keep / f'{Path(sys.argv[0]).stem}_{seed}',
                                    dirs_exist_ok=True)
    print(f'{passed} passed, {failed} failed')
    return 1 if failed or not passed else 0
