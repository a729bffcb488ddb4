#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The documents show what happens, to the character. A fenced block of README and docs/ is one of

    a session     `$ command` and its output, standard error included, in bash
    Python        `>>> statement` and its output, by doctest, in a process of its own
    C             a file of examples/ or a part of one, which other tests compile and run
    exempt        a row of EXEMPT, which says why

and nothing else. One shell runs the blocks of a document in order, so that a mount or a `cd` lasts, in
one fresh directory that has the project's tests/ and examples/. /tmp/ stands for that directory. No
part of an output is omitted or replaced: a document does not show what differs from run to run
(owners, dates, speed). A command of the programs within a sentence is run, too, with a file of the
project for FILE."""
import ast
import importlib.util
import os
import re
import shlex
import shutil
import sys
from pathlib import Path

from harness import (DATA, MANUALS, NTUPLE, NTUPLEFS, Skip, case, command, data, mounts, output, run, same,
                     scratch, unmount)

ROOT = MANUALS.parent.parent
DOCUMENTS = [ROOT / 'README.md', *sorted((ROOT / 'docs').rglob('*.md'))]
BLOCK = re.compile(r'^```([^\n]*)\n(.*?)^```$', re.DOTALL | re.MULTILINE)
FENCE = re.compile(r'^\s*(?:```|~~~)', re.MULTILINE)
STEP = re.compile(r'^\$ (.*(?:\n> .*)*)\n((?:(?!\$ ).*\n)*)', re.MULTILINE)
MARK = 'END-OF-STEP'
SECONDS = 180  # for a document: clusters of workers start in one of them
# Of this build, if a plain compiler can link it: not with sanitizers.
LIBRARY, PACKAGES = os.environ.get('NTUPLE_LIBRARY'), os.environ.get('NTUPLE_PKG_CONFIG_PATH')
PROGRAMS = ('jq', 'zstd', 'cc', 'pkg-config')  # those that are not always installed
MODULES = ('awkward', 'dask', 'dask_awkward', 'distributed', 'duckdb', 'fsspec', 'ntuple', 'pandas', 'polars',
           'pyarrow')
LIBRARIES = {'ak': ['awkward', 'pyarrow'], 'pa': ['pyarrow']}  # of the argument library=

# (document, start of the block): why it is not run.
EXEMPT = {
    ('README.md', 'git clone '): 'builds: packaging/debian/try-install runs it in a fresh system',
    ('docs/architecture.md', 'file bytes → '): 'a drawing',
    ('docs/engines.md', 'import ntuple, ntuple.ray'): 'by Ray: tests/python/test_clusters.py reads so',
    ('docs/engines.md', 'import ntuple.spark'): 'by Spark: likewise',
    ('docs/hacking.md', 'scripts/test '): 'a table of what builds and runs the tests',
    ('docs/install.md',
     'scripts/build-debian '): 'installs: packaging/debian/try-build runs this line of README',
    ('docs/install.md',
     'sudo apt install binutils '): 'installs: packaging/debian/try-install runs it in a fresh system',
    ('docs/install.md', 'sudo apt install python3-dev '): 'likewise',
    ('docs/install.md', 'sudo apt install gcc '): 'likewise',
    ('docs/install.md', 'sudo apt install meson '): 'likewise',
    ('docs/library.md', 'struct nt_stream_range ranges'): 'a fragment of a program',
    ('docs/library.md',
     '#include <ntuple/ntuple.hpp>'): 'likewise: tests/library/read_columns.cxx is such a program',
    ('docs/mounting.md',
     'mount -t fuse.ntuplefs '): 'by root with the system\'s helpers: test_fstab.py mounts so',
    ('docs/mounting.md', '/data/events.root '): 'a line of fstab: test_fstab.py mounts what it says',
    ('docs/mounting.md', 'ntuplefs -o chain '): 'of files that are not there: test_chain.py mounts such',
    ('docs/mounting.md', '/mnt/events  *(ro'): 'a line for a server of NFS, which needs the kernel\'s module',
    ('docs/mounting.md',
     'ntuplefs: mounted '): 'lines of the log, with a process\'s number and a cut message',
    ('docs/remote.md', 'ntuplefs https://'): 'by a server that does not exist: test_remote.py has one',
    ('docs/remote.md',
     'ntuplefs -o chain '): 'likewise: test_chain_addresses.py, test_s3.py and test_xrootd.py have them',
    ('docs/remote.md', 'ntuplefs dav://'): 'likewise: test_folders.py and test_s3.py have them',
    ('docs/remote.md', 'export AWS_ENDPOINT_URL'): 'needs an account',
    ('docs/remote.md', "ntuplefs 'https://ACCOUNT"): 'likewise',
    ('docs/tree.md', 'MNT/'): 'a drawing',
}


def name_of(document):
    return str(document.relative_to(ROOT))


def blocks(document):
    """[(language, text)] of those that are not exempt."""
    found = BLOCK.findall(document.read_text())
    starts = [start for name, start in EXEMPT if name == name_of(document)]
    return [(language, text) for language, text in found if not text.startswith(tuple(starts))]


def is_of_an_example(text):
    return any(text in path.read_text() for path in (ROOT / 'examples').glob('*.c'))


def problem_of(language, text):
    if not language and text.startswith('$ ') or language == 'python' and text.startswith('>>> '):
        return None
    if language == 'c' and is_of_an_example(text):
        return None
    return 'neither session, Python, nor a part of an example, and not exempt'


@case
def every_block_of_every_document_is_tried_or_named_as_one_that_is_not():
    problems = [f'{name_of(document)}: {problem_of(*block)}: {block[1][:60]!r}' for document in DOCUMENTS
                for block in blocks(document) if problem_of(*block)]
    same(problems, [])
    for document in DOCUMENTS:
        text = document.read_text()
        same(len(FENCE.findall(text)), 2 * len(BLOCK.findall(text)),
             f'{name_of(document)}: fences at the left edge')


@case
def every_exempt_block_is_there():
    for name, start in EXEMPT:
        found = [text for _, text in BLOCK.findall((ROOT / name).read_text()) if text.startswith(start)]
        same(len(found), 1, f'blocks of {name} that begin with {start!r}')


def session(text):
    """[(command, output)]. An empty line before a prompt is no output."""
    steps = STEP.findall(text)
    same(''.join(f'$ {words}\n{expected}' for words, expected in steps), text, 'the session')
    return [(words.replace('\n> ', '\n'), re.sub(r'(^|\n)\n$', r'\1', expected)) for words, expected in steps]


def missing_modules(text):
    """Of those that the text imports or names by library=. A module of the package has the name of the one
    that it needs: ntuple.fsspec."""
    statements = ast.parse(''.join(re.findall(r'^(?:>>>|\.\.\.) (import .*\n)', text, re.MULTILINE))).body
    names = {name for statement in statements for alias in statement.names for name in alias.name.split('.')}
    for library in re.findall(r"library='(ak|pa)'", text):
        names.update(LIBRARIES[library])
    return sorted(name for name in names if name in MODULES and not importlib.util.find_spec(name))


def steps_of(document, directory):
    """[(command, output)] of all blocks. doctest prints nothing on success."""
    steps = []
    for number, (language, text) in enumerate(blocks(document)):
        if not language:
            steps += [(relocated(words, directory), expected) for words, expected in session(text)]
        elif language == 'python' and missing_modules(text):
            print(f'skip {name_of(document)}, block {number}: {", ".join(missing_modules(text))} not '
                  f'installed', flush=True)
        elif language == 'python':
            path = directory / f'block-{number}.txt'
            path.write_text(relocated(text, directory))
            steps.append((f'{shlex.quote(sys.executable)} -m doctest {path.name}', ''))
    return steps


def relocated(text, directory):
    return text.replace('/tmp/', f'{directory}/')


def environment():
    """The built programs, and the library as pkg-config finds it in the build."""
    paths = [str(Path(program).resolve().parent) for program in (NTUPLE, NTUPLEFS) if os.sep in program]
    changed = {'PATH': os.pathsep.join([*paths, os.environ['PATH']]), 'LC_ALL': 'C.UTF-8', 'COLUMNS': '80',
               # workers that are late on a busy machine are no output
               'DASK_LOGGING__DISTRIBUTED': 'critical'}
    if LIBRARY:
        changed |= {'PKG_CONFIG_PATH': PACKAGES, 'LD_LIBRARY_PATH': str(Path(LIBRARY).parent)}
    return os.environ | changed


def try_document(document):
    words = set(re.findall(r'[\w-]+', ''.join(text for language, text in blocks(document) if not language)))
    missing = [name for name in PROGRAMS if name in words and not shutil.which(name)]
    if 'cc' in words and not LIBRARY:
        missing.append('a library that a plain compiler can link')
    if missing:
        raise Skip(f'{", ".join(missing)} missing')
    with scratch() as directory:
        (directory / 'tests').symlink_to(DATA.parent)
        (directory / 'examples').symlink_to(ROOT / 'examples')
        steps = steps_of(document, directory)
        script = 'exec 2>&1\n' + ''.join(f'{words}\necho {MARK}\n' for words, _ in steps)
        result = command('bash', '-c', script, cwd=directory, env=environment(), timeout=SECONDS)
        found = result.stdout.decode().replace(f'{directory}/', '/tmp/').split(f'{MARK}\n')
    for (words, expected), answer in zip(steps, found):
        if answer != expected:
            raise AssertionError(
                    f'{name_of(document)}: after\n$ {words}\nexpected\n{expected}found\n{answer}')
    same(len(found) - 1, len(steps), 'commands that ended')


# ---- Commands within sentences ----

SPAN = re.compile(r'`((?:ntuple|ntuplefs) [^`]+)`')
# What stands for a user's file runs with one of the project's. Other placeholders cannot run.
FILES = {'FILE': 'tests/data/example.root', 'A': 'tests/data/compression_lz4.root',
         'B': 'tests/data/compression_zstd.root',
         'OTHER': 'tests/data/example.root', 'run.root': 'tests/data/example.root'}
HISTORY = 'docs/performance-history.md'    # its commands are of former versions and of files that bench/ made
# Commands with placeholders, or of files that are not there: how many each document has.
NOT_RUN = {'docs/mounting.md': 1, 'docs/remote.md': 1, 'docs/tour.md': 4, 'docs/tree.md': 1}


def inline_commands(document):
    """Commands in code spans outside of blocks, each once."""
    text = BLOCK.sub('', document.read_text())
    return sorted({' '.join(span.replace('\\|', '|').split()) for span in SPAN.findall(text)})


def with_files(words):
    """The command with files for its placeholders; None if another placeholder is left."""
    filled = [FILES.get(word, word) for word in shlex.split(words)]
    is_left = any(re.search(r'[A-Z]{2,}|[\[\]…]|\.\.\.|^/(mnt|data)\b|://', word) for word in filled)
    return None if is_left else filled


def options_of(program, names):
    if program == 'ntuplefs':
        return output(NTUPLEFS, '--help').decode()
    return output(NTUPLE, *(['help', *names] if names else ['--help'])).decode()


def try_inline(words, directory):
    """None where it cannot run; else what is wrong, or ''."""
    program, *arguments = shlex.split(words) if '|' not in words else [None]
    names = [word for word in arguments if not word.startswith('-')]
    if not program or not arguments:
        return None
    if not names or program == 'ntuple' and len(names) == 1:    # names a command and its options
        text = options_of(program, names)
        missing = [word for word in arguments if word.startswith('-') and word.split('=')[0] not in text]
        return f'no option {missing[0]}' if missing else ''
    filled = with_files(words)
    if not filled:
        return None
    result = command(*filled, cwd=directory, env=environment())
    for mountpoint in mounts():
        if mountpoint.startswith(f'{directory}/'):
            unmount(mountpoint)
    expected = (0, 1) if 'diff' in filled else (0,)
    return '' if result.returncode in expected else result.stderr.decode()


@case
def commands_within_sentences_run():
    not_run, problems = {}, []
    for document in DOCUMENTS:
        for words in inline_commands(document) if name_of(document) != HISTORY else []:
            with scratch() as directory:
                (directory / 'tests').symlink_to(DATA.parent)
                problem = try_inline(words, directory)
            if problem is None:
                not_run.setdefault(name_of(document), []).append(words)
            elif problem:
                problems.append(f'{name_of(document)}: {words}: {problem}')
    same(problems, [])
    same({name: len(found) for name, found in not_run.items()}, NOT_RUN, not_run)


@case
def the_picture_of_the_readme_is_what_the_program_draws():
    drawn = output(NTUPLE, 'cat', data('example.root'), 'Events/sizes.svg').decode()
    same('\n'.join(line.rstrip() for line in drawn.splitlines()).rstrip() + '\n',
         (ROOT / 'docs/sizes.svg').read_text())


def add_case(document):
    def try_it():
        try_document(document)
    try_it.__name__ = f'{name_of(document)} shows what happens'
    case(try_it)


for document in DOCUMENTS:
    if any(language != 'c' for language, _ in blocks(document)):
        add_case(document)


if __name__ == '__main__':
    sys.exit(run())
