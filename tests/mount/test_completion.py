# SPDX-License-Identifier: MIT
"""Completion in the installed ones of bash, zsh and fish; it offers what --help lists."""
import os
import re
import shutil

from harness import NTUPLE, Skip, case, command, data, output, run, same, scratch

SCRIPTS = os.path.join(os.path.dirname(__file__), '..', '..', 'src', 'cli', 'completion')
EXAMPLE = data('example.root')
NANO = data('nano.root')
LINES = [  # the typed words, the last one unfinished; the possible completions
    (['ntuple', 'insp'], ['inspect']),
    (['ntuple', 'help', 'v'], ['verify']),
    (['ntuple', 'ls', '--rec'], ['--recursive']),
    (['ntuple', 'inspect', '--sort=sha'], ['--sort=share']),
    (['ntuple', 'inspect', '--group=p'], ['--group=prefix']),
    (['ntuple', 'head', NANO, 'Muon_e'], ['Muon_eta/']),
    (['ntuple', 'cat', NANO, 'Muon_pt/off'], ['Muon_pt/offsets.bin', 'Muon_pt/offsets.npy']),
    (['ntuple', 'inspect', '--sort', 'sha'], ['share']),
    (['ntuple', 'cat', EXAMPLE, 'Events/mu'], ['Events/muon_pt/', 'Events/muons/']),
    (['ntuple', 'cat', EXAMPLE, 'Events/muons/_0/pt/data.n'], ['Events/muons/_0/pt/data.npy']),
    (['ntuple', 'export', '--compression=l'], ['--compression=lz4']),
    (['ntuple', 'export', EXAMPLE, 'calibration/C'], ['calibration/Constants/']),
    (['ntuple', 'cat', '--format=blz', EXAMPLE, 'Ev'], []),
    (['ntuple', 'cat', __file__, 'Ev'], []),
    (['ntuplefs', '-o', 'allow_other,text'], ['allow_other,text=', 'allow_other,textsize=']),
    (['ntuplefs', '-o', 'allow_other,text=si'], ['allow_other,text=sized']),
    (['ntuplefs', '-o', 'chain='], ['chain=check', 'chain=union']),
    (['ntuplefs', '--chain='], ['--chain=check', '--chain=union']),
    (['ntuple', 'ls', '--chain='], ['--chain=check', '--chain=union']),
    (['ntuplefs', str(EXAMPLE)[:-2]], [EXAMPLE]),
]


def shell(name):
    if not shutil.which(name):
        raise Skip(f'{name} is not installed')
    return name, os.path.join(SCRIPTS, {'bash': 'ntuple.bash', 'zsh': '_ntuple', 'fish': 'ntuple.fish'}[name])


def typed(words):
    """The words as text, with the tested programs."""
    return [NTUPLE + ('fs' if words[0].endswith('fs') else '')] + [str(word) for word in words[1:]]


def offered(*words):
    lines = output(NTUPLE, 'complete', '--', *map(str, words)).decode().splitlines()
    return [line.split('\t')[0] for line in lines if not line.startswith('\t')]


def options_in(text, *headings):
    parts = [text.partition(heading)[2].partition('\n\n')[0] for heading in headings]
    return {f'{name}{"=" if value else ""}' for name, value in re.findall(r'^ +(?:-\w, )?--(\w+)(=?)',
            '\n'.join(parts), re.M)}


def check(words, expected, found):
    same(sorted(found), sorted(map(str, expected)), ' '.join(map(str, words)))


def check_lines(complete):
    for words, expected in LINES:
        check(words, expected, complete(typed(words)))


@case
def every_command_and_option_of_the_help_is_offered():
    general = output(NTUPLE, '--help').decode()
    commands = re.findall(r'^  ([a-z]+) +\S', general.partition('Commands:')[2].partition('\n\n')[0], re.M)
    same(offered('ntuple', ''), commands)
    for name in commands:
        reported = options_in(output(NTUPLE, name, '--help').decode(), 'Options:') | options_in(general,
                'commands:')
        same({word[2:] for word in offered('ntuple', name, '--')}, reported, name)


@case
def every_option_of_the_mount_is_offered_in_a_list():
    if not shutil.which(NTUPLE + 'fs'):
        raise Skip('ntuplefs is not built')
    reported = options_in(output(NTUPLE + 'fs', '--help').decode(),
                        'Options that -o accepts, too, as NAME[=VALUE],...:')
    same(set(offered('ntuplefs', '-o', 'ro,')), {f'ro,{name}' for name in reported})


@case
def completion_reports_no_mistakes():
    with scratch() as folder:
        broken = folder / 'broken.root'
        broken.write_bytes(EXAMPLE.read_bytes()[:3000])
        for words in [['ls', '/nowhere/at.root', ''], ['dance', ''], ['ls', '--depth', 'x', ''],
                      ['ls', broken, 'no/where/'],
                      ['cp', 'a', 'b', 'c', ''], ['tree', '-L', ''], ['cat', __file__, '']]:
            result = command(NTUPLE, 'complete', '--', 'ntuple', *map(str, words))
            same((result.returncode, result.stdout.decode().replace('\tpaths\n', ''), result.stderr),
                 (0, '', b''), words)


@case
def a_source_in_the_home_folder_is_found():
    with scratch() as folder:
        shutil.copy(EXAMPLE, folder)
        result = command(NTUPLE, 'complete', '--', 'ntuple', 'ls', '~/example.root', 'Ev',
                         env={'HOME': str(folder)})
        same(result.stdout, b'\tpaths\nEvents/\t\n')


@case
def bash_completes():
    name, script = shell('bash')
    breaks = re.compile('([=:])')

    def complete(words):
        # As bash passes words: broken at = and :, and it keeps what is before them.
        split = [part for word in words for part in (breaks.split(word) if breaks.search(word) else [word])]
        found = output(name, '--norc', '-c', f'source {script}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
                       '_ntuple; printf "%s\\n" "${COMPREPLY[@]}"', 'test', *split).decode().split('\n')
        kept = words[-1][:len(words[-1]) - len(breaks.split(words[-1])[-1])]
        return [kept + word for word in found if word]
    check_lines(complete)


@case
def bash_completes_names_with_blanks():
    name, script = shell('bash')
    with scratch() as folder:
        (folder / 'a b').mkdir()
        shutil.copy(EXAMPLE, folder / 'a b')
        for source in [f'{folder}/a\\ b/example.root', f'"{folder}/a b/example.root']:
            same(output(name, '--norc', '-c', f'source {script}; COMP_WORDS=("$@"); COMP_CWORD=3; _ntuple; '
                        'echo "${COMPREPLY[@]}"', 'test', NTUPLE, 'ls', source, 'Eve'), b'Events/\n', source)


@case
def zsh_completes():
    name, script = shell('zsh')
    # The functions of zsh's completion system, which exist only while somebody types.
    stand_ins = '''_describe() { print -rl -- ${${(P)2}%%:*} }
        compadd() { print -rl -- ${(P)@[-1]} }
        _files() { print -rl -- $words[CURRENT]*(N) }
        words=("$@") CURRENT=$#
        source '''

    def complete(words):
        return [word for word in output(name, '-f', '-c', f'{stand_ins}{script}; true', 'test',
                                        *words).decode().split('\n') if word]
    check_lines(complete)


@case
def fish_completes():
    name, script = shell('fish')

    def complete(words):
        with scratch() as folder:
            lines = output(name, '--no-config', '-c',
                           f'source {script}; set PATH {os.path.dirname(NTUPLE)} $PATH; complete -C "$argv"',
                           *[os.path.basename(words[0]), *words[1:]],
                           env={**os.environ, 'HOME': str(folder)}).decode().splitlines()
        return [line.split('\t')[0] for line in lines]
    check_lines(complete)


run(needs_fuse=False)
