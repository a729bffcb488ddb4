#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The documents agree with the project: the files, commands, options and schemas that they name
exist, and none is missing.

usage: docs.py SOURCE_DIRECTORY [PROGRAM...]        PROGRAM: built, for --help; exit status 1 if a case failed
"""
import re
import subprocess
import sys
from pathlib import Path

from public_headers import functions, headers

DOCUMENTS = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'NEWS.md', 'docs/*.md', 'docs/formats/*.md',
             'tests/data/ORIGIN.md', '.github/*.md']
PAGES = ['docs/*.md', 'docs/formats/*.md']
PROSE = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', *PAGES]
CODE = re.compile(r'```.*?```|`[^`\n]+`', re.DOTALL)
PATH = re.compile(r'(?<![\w./-])((?:src|include|tests|scripts|docs|bench|\.ci)/[\w./*<>-]*[\w*>/])')
LINK = re.compile(r'\]\(([^)#:]+)(?:#[^)]*)?\)')
SCHEMA_IN_CODE = re.compile(r'nt_json_document\([^,]+,[^,]+, [^;]*"\w+"[^;]*\);|\.document = "\w+"')
SCHEMA_IN_DOCS = re.compile(r'ntuplefs\.(\w+)/1')
HELP_OPTION = re.compile(r'^\s+(?:-\w, )?--([a-z][\w-]*)', re.MULTILINE)
PAGE_OPTION = re.compile(r'(?<=\s)-([a-z][\w-]*)')


def documents(root, patterns=DOCUMENTS):
    return [path for pattern in patterns for path in sorted(root.glob(pattern))]


def prose_problems(path):
    """Lines of prose have at most 100 columns, without code. So have the cells of tables."""
    text = re.sub(r'^```.*?^```', lambda block: '\n' * block[0].count('\n'), path.read_text(),
                  flags=re.DOTALL | re.MULTILINE)
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > 100 and not line.lstrip().startswith('|') and not line.startswith(' ' * 4):
            yield f'line {number} has {len(line)} columns'
        for cell in re.split(r'(?<!\\)\|', line) if line.startswith('|') else ():
            if len(cell.strip()) > 100:
                yield f'line {number} has a cell of {len(cell.strip())} columns'


def form_problems(root):
    """A page says first for whom it is; some have a limit of their own."""
    for path in documents(root, PAGES):
        if not re.match(r'# .*\n\nThis page is for ', path.read_text()):
            yield f'{path.relative_to(root)} does not say in its first sentence for whom it is'
    for name in 'README.md', 'docs/performance.md':
        if len((root / name).read_text().splitlines()) > 150:
            yield f'{name} has more than 150 lines'
    glossary = (root / 'docs/architecture.md').read_text().partition('## Glossary')[2]
    if len(re.findall(r'^\|', glossary, re.MULTILINE)) - 2 > 30:
        yield 'the glossary of docs/architecture.md has more than 30 rows'


def missing_paths(root, path):
    text = path.read_text()
    for code in CODE.findall(text):
        for name in PATH.findall(code):
            if '<' not in name and not any(root.glob(name.rstrip('/'))):
                yield f'{name} does not exist'
    for name in LINK.findall(text):
        if not (path.parent / name).exists():
            yield f'the link to {name} leads nowhere'


def index_problems(root):
    """docs/README.md has a line for each page, but for those of commands: ntuple(1) names them."""
    index = root / 'docs/README.md'
    linked = {(index.parent / name).resolve() for name in LINK.findall(index.read_text())}
    pages = [path for pattern in ('*.md', 'formats/*.md', 'man/*.[1-8]')
             for path in (root / 'docs').glob(pattern)]
    for path in sorted(set(pages) - {index}):
        if path.resolve() not in linked and not path.name.startswith('ntuple-'):
            yield f'{path.relative_to(root)} is not listed'


def missing_commands(root, path):
    """The lines of README that call make or a script."""
    targets = set(re.findall(r'^(\w+):', (root / 'Makefile').read_text(), re.MULTILINE))
    for line in re.findall(r'^\$? ?(make .+|scripts/.+)$', path.read_text(), re.MULTILINE):
        command, *words = line.split()
        if command == 'make' and words[0] not in targets:
            yield f'make {words[0]}: the Makefile has no such target'
        elif command != 'make' and not (root / command).exists():
            yield f'{command} does not exist'


def schema_problems(root):
    calls = [call for path in (root / 'src').rglob('*.c')
             for call in SCHEMA_IN_CODE.findall(path.read_text())]
    used = {kind for call in calls for kind in re.findall(r'"(\w+)"', call)}
    reported = set(SCHEMA_IN_DOCS.findall((root / 'docs/tree.md').read_text()))
    for kind in sorted(used - reported):
        yield f'docs/tree.md does not list the schema ntuplefs.{kind}/1'
    for kind in sorted(reported - used):
        yield f'docs/tree.md lists the schema ntuplefs.{kind}/1, which no code writes'


def call_problems(root):
    """The files that docs/architecture.md names beside functions have them."""
    text = (root / 'docs/architecture.md').read_text()
    for names, files in re.findall(r'^\| (.*`\w+`.*) \| (`src/.*\.c`) \|$', text, re.MULTILINE):
        code = ''.join((root / name).read_text() for name in re.findall(r'`(.*?)`', files))
        for name in re.findall(r'`(\w+_\w+)`', names):
            if not re.search(rf'\b{name}\b', code):
                yield f'{name} is not in {files}'


def library_problems(root):
    """Each function of the public headers has one row in the tables of costs."""
    declared = set().union(*(functions(header) for header in headers(root)))
    rows = re.findall(r'^\| (`nt_[^|]*) \|', (root / 'docs/library.md').read_text(), re.MULTILINE)
    reported = [name for row in rows for name in re.findall(r'`(nt_\w+)`', row)]
    for name in sorted(declared - set(reported)):
        yield f'the tables do not list the cost of {name}'
    for name in sorted(set(reported) - declared):
        yield f'the tables list {name}, which no public header declares'
    for name in sorted({name for name in reported if reported.count(name) > 1}):
        yield f'the tables list {name} twice'


def help_of(program, *command):
    return subprocess.run([program, *command, '--help'], capture_output=True, text=True, check=True).stdout


def commands_of(program):
    return re.findall(r'^  ([a-z]+) +\S', help_of(program).partition('ommands:')[2].partition('\n\n')[0],
                      re.MULTILINE)


def page_options(page, macros):
    lines = [line for line in page.read_text().splitlines() if line.startswith(macros)]
    return {name for line in lines for name in PAGE_OPTION.findall(line)}


def option_problems(root, program, *command):
    """A page has the options that --help has: the page of a program, or of one of its commands."""
    page = root / 'docs/man' / f'{"-".join([Path(program).name, *command])}.1'
    if not page.exists():
        yield f'{page.name} does not exist'
        return
    known = set(HELP_OPTION.findall(help_of(program, *command)))
    # The page of a program lists the options that all commands have.
    known -= {'help', 'version'} if command else set()
    reported = page_options(page, ('.It Fl', '.Op Fl') if command else ('.It Fl', '.Op Fl', '.Fl'))
    for name in sorted(known - reported):
        yield f'{page.name} does not describe --{name}'
    for name in sorted(reported - known):
        yield f'{page.name} describes --{name}, which --help does not list'
    if not known and not command:
        yield f'{program} --help lists no option'


def page_problems(root, program):
    """Each command has a page, which the program's own page names, and there is no other."""
    page = root / 'docs/man' / f'{Path(program).name}.1'
    listed = re.findall(rf'^\.It Xr ({page.stem}-[a-z]+) 1$', page.read_text(), re.MULTILINE)
    expected = {f'{page.stem}-{command}' for command in commands_of(program)}
    if set(listed) != expected:
        yield f'{page.name} and --help: commands that only one has: {", ".join(set(listed) ^ expected)}'
    for path in sorted(page.parent.glob(f'{page.stem}-*.1')):
        if path.stem not in listed:
            yield f'{path.name} is of no command'


def main(root, programs):
    cases = []
    for path in documents(root):
        cases.append((f'{path.relative_to(root)}: paths', missing_paths(root, path)))
    for path in documents(root, PROSE):
        cases.append((f'{path.relative_to(root)}: columns', prose_problems(path)))
    cases.append(('form of pages', form_problems(root)))
    cases.append(('docs/README.md: index', index_problems(root)))
    cases.append(('README.md: commands', missing_commands(root, root / 'README.md')))
    cases.append(('schemas', schema_problems(root)))
    cases.append(('docs/architecture.md: functions', call_problems(root)))
    cases.append(('docs/library.md: functions', library_problems(root)))
    for program in programs:
        cases.append((f'options of {Path(program).name}', option_problems(root, program)))
        cases.append((f'pages of {Path(program).name}', page_problems(root, program)))
        cases += [(f'options of {Path(program).name} {command}', option_problems(root, program, command))
                  for command in commands_of(program)]
    failed = 0
    for what, found in cases:
        problems = list(found)
        failed += bool(problems)
        for problem in problems:
            print(f'{what}: {problem}')
    print(f'{len(cases) - failed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
