#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The installed files work: the examples compile with the flags of pkg-config and run, shared
and static.

usage: installed.py MESON SOURCE_DIRECTORY BUILD_DIRECTORY VERSION CC... [--cxx CXX...]        one
                                                                                               case
                                                                                               per
                                                                                               program
                                                                                               and
                                                                                               question;
                                                                                               exit
                                                                                               status
                                                                                               1
                                                                                               if
                                                                                               one
                                                                                               failed.
                                                                                               Without
                                                                                               pkg-config
                                                                                               there
                                                                                               are
                                                                                               no
                                                                                               cases.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

EXAMPLES = {'.c': ['-std=c11', '-D_POSIX_C_SOURCE=200809L'], '.cxx': ['-std=c++17']}
STRICT = ['-Wall', '-Wextra', '-Wpedantic', '-Werror']
ARGUMENTS = {'read_column': ['Events', 'weight'], 'read_vector': ['Events', 'weight'],
             'arrow_columns': ['Events'], 'first_items': ['Events', 'muons', 'muons/_0/pt']}


def output(*command, **more):
    run = subprocess.run([str(word) for word in command], capture_output=True, text=True, errors='replace',
                         **more)
    if run.returncode:
        print(f'{" ".join(map(str, command))}:\n{run.stderr[:2000]}')
    return None if run.returncode else run.stdout


class Installed:
    """The project installed into a directory of its own, like a package."""

    def __init__(self, root):
        self.pkgconfig = next(root.rglob('libntuple.pc')).parent
        self.library = next(root.rglob('libntuple.so')).resolve()
        self.environment = {**os.environ, 'PKG_CONFIG_PATH': str(self.pkgconfig),
                            'LD_LIBRARY_PATH': str(self.library.parent)}
        level = 2 if self.pkgconfig.parent.name != 'lib' else 1
        self.prefix = f'--define-variable=prefix={self.pkgconfig.parents[level]}'

    def ask(self, *options):
        return (output('pkg-config', *options, self.prefix, 'libntuple', env=self.environment) or '').split()


def build(installed, compiler, example, program, *options):
    flags = installed.ask('--cflags', '--libs', *(['--static'] if options else []))
    if options:  # only libntuple itself is linked statically
        flags = [word for at in flags for word in (['-l:libntuple.a'] if at == '-lntuple' else [at])]
    return output(*compiler, *EXAMPLES[example.suffix], *STRICT, example, '-o', program, *flags) is not None


def examples(installed, compilers, root, folder):
    data = root / 'tests/data/example.root'
    for example in sorted((root / 'examples').glob('*.c*')):
        compiler = compilers.get(example.suffix)
        for link in [[], ['static']] if compiler else []:
            program = folder / f'{example.stem}{"".join(link)}'
            yield build(installed, compiler, example, program, *link) and bool(
                output(program, data, *ARGUMENTS[example.stem], env=installed.environment))


def soname(installed):
    lines = (output('readelf', '-d', installed.library) or '').splitlines()
    return next((line.split('[')[1].rstrip(']') for line in lines if 'SONAME' in line), None)


def links_lead_to_programs(target):
    """mount.ntuplefs exists if ntuplefs is installed, and leads to that program once all is in
    its place."""
    # Until then the link is broken, and a pattern without a wildcard finds only existing files.
    links = [path for path in target.rglob('*') if path.name == 'mount.ntuplefs'
             and (target / str(path.readlink()).lstrip('/')).is_file()]
    return len(links) == len(list(target.rglob('bin/ntuplefs')))


def pages_of_commands_are_there(target):
    """man(1) finds a page for each command; builds without pages skip this."""
    if not list(target.rglob('ntuple.1')):
        return True
    text = output(next(target.rglob('bin/ntuple')), '--help') or ''
    commands = re.findall(r'^  ([a-z]+) +\S', text.partition('Commands:')[2].partition('\n\n')[0],
                          re.MULTILINE)
    pages = [f'ntuple-{name}.1'
             for name in commands] + ['mount.ntuplefs.8'] * len(list(target.rglob('bin/ntuplefs')))
    missing = [name for name in pages if not any(page.is_file() for page in target.rglob(name + '*'))]
    if missing:
        print(f'no page: {", ".join(missing)}')
    return bool(commands) and not missing


def a_wheel_has_places_for_all_that_it_installs(meson, root, build_directory):
    """The files that pyproject.toml selects by tags go into directories that Python packages may
    have."""
    places = {'{bindir}', '{py_platlib}', '{py_purelib}', '{datadir}', '{mandir}'}
    tags = re.search(r"'--tags=([\w,-]+)'", (root / 'pyproject.toml').read_text())[1].split(',')
    plan = json.loads(output(meson, 'introspect', '--install-plan', build_directory) or '{}')
    is_relocatable = '-Drelocatable=true' in (root / 'pyproject.toml').read_text()
    taken = [entry['destination'] for entries in plan.values() for entry in entries.values()
             if entry['tag'] in tags]
    if is_relocatable:  # unlike this build
        taken = [destination.replace('{libexecdir}', '{bindir}') for destination in taken]
    lost = [destination for destination in taken if destination.split('/')[0] not in places]
    if lost:
        print(f'no place in a wheel: {", ".join(lost)}')
    return bool(taken) and not lost


def main(meson, root, build_directory, version, compilers):
    major, minor, _ = version.split('.')
    promised = f'{major}.{minor}' if major == '0' else major
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / 'installed'
        if output(meson, 'install', '-C', build_directory, '--no-rebuild', '--quiet', '--destdir',
                  target) is None:
            return 1
        installed = Installed(target)
        results = [installed.ask('--modversion') == [version],
                   soname(installed) == f'libntuple.so.{promised}',
                   links_lead_to_programs(target), pages_of_commands_are_there(target),
                   a_wheel_has_places_for_all_that_it_installs(meson, root, build_directory)]
        if not all(results):
            print(f'version, name of the library, link to the program, pages, wheel: {results}')
        results += examples(installed, compilers, root, Path(folder))
    print(f'{results.count(True)} passed, {results.count(False)} failed')
    return 0 if all(results) else 1


if __name__ == '__main__':
    words = sys.argv[5:]
    at = words.index('--cxx') if '--cxx' in words else len(words)
    if not shutil.which('pkg-config'):
        print('there is no pkg-config: nothing was asked')
        sys.exit(77)
    sys.exit(main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4],
                  {'.c': words[:at], '.cxx': words[at + 1:]}))
