# SPDX-License-Identifier: MIT
"""Arguments, messages and exit status of both programs, and that the manual pages describe all
of them."""
import re
import shutil
import subprocess
from pathlib import Path

from harness import MANUALS, NTUPLE, NTUPLEFS, Skip, case, command, data, ntuplefs, output, run, same, scratch

FAILURES = [  # arguments, exit status, what the message names
    ([], 1, 'missing SOURCE; see'),
    (['only-one'], 1, 'missing MOUNTPOINT'),
    (['run*.root'], 1, 'missing MOUNTPOINT'),
    (['/nowhere/at.root'], 2, '/nowhere/at.root'),
    (['-o', 'sparkling', 'a', 'b'], 1, '"sparkling"'),
    (['-o', 'cachesize', 'a', 'b'], 1, '"cachesize"'),
    (['-o', 'cachesize=much', 'a', 'b'], 1, '"much"'),
    (['-o', 'cachesize=99999999999999999999', 'a', 'b'], 1, '99999999999999999999'),
    (['-o', 'cachesize=999999999T', 'a', 'b'], 1, '999999999T'),
    (['-o', 'threads=0', 'a', 'b'], 1, '"threads"'),
    (['-o', 'threads=100000', 'a', 'b'], 1, 'a number from 1 to 1024'),
    (['-o', 'list=some', 'a', 'b'], 1, 'all|sized'),
    (['-o', 'chain=', 'a', 'b'], 1, 'check|union'),
    (['-o', 'allow_other=1', 'a', 'b'], 1, 'option "allow_other" takes no value'),
    (['--ro=1', 'a', 'b'], 1, 'option "ro" takes no value'),
    (['-o', 'remount', 'a', 'b'], 1, 'option "remount" is refused: unmount and mount again'),
    (['-o', 'allow_root', 'a', 'b'], 1, 'option "allow_root" is refused: use allow_other'),
    (['-o', 'umask=022', 'a', 'b'], 1, 'option "umask" is refused: files have the modes of their source'),
    (['-o', 'max_read=4096', 'a', 'b'], 1, 'option "max_read" is refused: '),
    (['--sparkling', 'a', 'b'], 1, '--sparkling'),
    (['-q', 'a', 'b'], 1, '"-q"'),
    (['--version', '2', 'a', 'b'], 1, '--version=N'),
    (['-o'], 1, '"-o"'),
    (['-o', 'cachesize=1.5G', 'a', 'b'], 1, 'a whole number of bytes, or with a suffix K, M, G or T'),
    (['-o', 'uid=root', 'a', 'b'], 1, 'option "uid": expected a number from 0'),
    (['-o', 'fsname=', 'a', 'b'], 1, '"" is not a value of option "fsname"'),
    (['--subtype=', 'a', 'b'], 1, '"" is not a value of option "subtype"'),
    (['-o', 'missing=skip', 'a', 'b'], 1, 'option "missing" needs option "chain"'),
    (['-o', 'index=list', 'a', 'b'], 1, 'option "index" needs option "chain"'),
    (['-o', 'context=system_u:object_r:fusefs_t:s0,default_permissions', '/nowhere/at.root', 'b'], 2,
     '/nowhere/at.root'),
    (['-o', 'fscontext=a,rootcontext=a,defcontext=a', '/nowhere/at.root', 'b'], 2, '/nowhere/at.root'),
    (['--format=parchment', '/nowhere/at.root', 'b'], 1,
     '"parchment" is not a value of option "format": expected rntuple, '),
    (['/nowhere/at.root', 'b'], 2, '/nowhere/at.root'),
]

TOOL_FAILURES = [
    ([], 1, 'ntuple: missing command; see ntuple --help'),
    (['--format=rntuple', 'ls', 'a'], 1,
     'ntuple: unknown option "--format=rntuple"; put options after the command'),
    (['--version=3', 'ls', 'a'], 1, 'option "version" takes no value; put options after the command'),
    (['dance'], 1, 'dance'),
    (['ls'], 1, 'too few arguments; usage: ntuple ls [options] FILE [PATH...]'),
    (['cat', 'a'], 1, 'too few arguments; usage: ntuple cat [options] FILE PATH...'),
    (['cp', 'a', 'b', 'c', 'd'], 1, 'too many arguments; usage: ntuple cp [options] FILE [PATH] DESTINATION'),
    (['help', 'dance'], 1, 'dance'),
    (['ls', '--threads=1025', 'a'], 1, 'a number from 1 to 1024'),
    (['ls', '--entries=Events:5:1', 'a'], 1,
     '"Events:5:1" is not a value of option "entries": expected [DATASET:]FIRST:END'),
    (['ls', '--missing=skip', 'a'], 1, 'option "missing" needs option "chain"'),
    (['ls', '--entries=5:1', 'a'], 1, 'END at least FIRST'),
    (['ls', '--format=parchment', '/nowhere/at.root'], 1, 'option "format": expected rntuple, '),
    (['inspect', '--sort=nope', 'a'], 1, 'pages, stored, packed, decoded, ratio'),
    (['export', '--compression=gzip', 'a', 'b.arrow'], 1,
     '"gzip" is not a value of option "compression": expected zstd|lz4|none'),
    (['inspect', '--group=nope', 'a'], 1, 'option "group": expected field|type|prefix'),
    (['ls', '--sparkling', 'a'], 1, '--sparkling'),
    (['ls', '--version', '2', 'a'], 1, '--version=N'),
    (['--version', 'ls', 'a'], 1, '--version=N'),
    (['tree', '-L', 'x', 'a'], 1, '"x"'),
    (['ls', '/nowhere/at.root'], 2, '/nowhere/at.root'),
]


def options_of(text):
    return set(re.findall(r'--([a-z_]+)', text)) | set(re.findall(r'(?<!\S)-([A-Za-z])(?=[ ,])', text))


def statuses_of(text):
    return dict(re.findall(r'^\s+(\d+)\s+(\S.*)$', text.split('xit status')[-1], re.M))


def manual(name):
    """The text of a manual page's source without its markup."""
    lines = (MANUALS / name).read_text().splitlines()
    return '\n'.join(re.sub(r'\s*\bNs\b\s*', '', line) for line in lines)


def manual_options(text):
    long = re.findall(r'-([a-z_]{2,})', '\n'.join(line for line in text.splitlines()
                                                  if re.match(r'\.(It )?(Fl|Oo|Op)', line)))
    return set(long) | set(re.findall(r'Fl ([A-Za-z])\b', text))


def manual_statuses(text):
    return dict(re.findall(r'^\.It (\d+)\n(.*)$', text, re.M))


def check_failures(program, table):
    for arguments, status, named in table:
        result = command(program, *arguments)
        message = result.stderr.decode()
        same(result.returncode, status, f'{arguments}: {message}')
        same((named in message, message.count('\n'), result.stdout), (True, 1, b''),
             f'{arguments}: {message!r}')


@case
def ntuplefs_names_what_is_wrong_with_its_arguments():
    check_failures(NTUPLEFS, FAILURES)


@case
def ntuple_names_what_is_wrong_with_its_arguments():
    check_failures(NTUPLE, TOOL_FAILURES)


@case
def help_and_version_go_to_standard_output():
    for program in NTUPLEFS, NTUPLE:
        for option in '-h', '--help', '-V', '--version':
            text = output(program, option).decode()
            assert 'ntuple' in text, text
        for library in 'libdeflate|zlib', 'liblzma':
            assert re.search(rf'^({library}) \d+\.\d+', output(program, '--version').decode(), re.M), program


@case
def every_command_prints_help_and_versions():
    commands = re.findall(r'^  ([a-z]+) +[A-Z[-]', output(NTUPLE, '--help').decode().split('\n\nOptions')[0],
                          re.M)
    assert {'ls', 'diff', 'help', 'complete'} <= set(commands), commands
    versions = output(NTUPLE, '--version')
    for name in commands:
        reported = output(NTUPLE, name, '--help').decode()
        assert '-V, --version ' in reported and reported.startswith(f'usage: ntuple {name} '), reported
        for option in '-V', '--version':
            same(output(NTUPLE, name, option), versions, name)


@case
def help_and_versions_that_cannot_be_written_are_reported():
    if not Path('/dev/full').exists():
        raise Skip('there is no /dev/full')
    for arguments in [NTUPLEFS, '--help'], [NTUPLEFS, '--version'], [NTUPLE, '--help'], [NTUPLE,
            '--version'], [NTUPLE, 'ls', '--help']:
        with open('/dev/full', 'wb') as full:
            result = subprocess.run(arguments, stdout=full, stderr=subprocess.PIPE)
        expected = f'{Path(arguments[0]).name}: standard output: cannot write: No space left on device\n'
        same((result.returncode, result.stderr.decode()), (7, expected), arguments)


@case
def the_version_names_the_commit_that_the_program_was_built_from():
    git = ['git', '-C', str(Path(__file__).parent)]
    if subprocess.run([*git, 'rev-parse', 'HEAD'], capture_output=True).returncode:
        return
    for program in NTUPLEFS, NTUPLE:
        [commit] = re.findall(r'^commit ([0-9a-f]+)(?:-dirty)?$', output(program, '--version').decode(), re.M)
        same(output(*git, 'cat-file', '-t', commit).decode().strip(), 'commit', program)


@case
def the_manual_page_of_ntuplefs_has_every_option_and_exit_status():
    text, help_text = manual('ntuplefs.1'), output(NTUPLEFS, '--help').decode()
    same(options_of(help_text) - manual_options(text), set(), 'options missing in the manual')
    same(manual_statuses(text), statuses_of(help_text), 'exit status')
    accepted = re.search(r'Accepted after -o.*:\n((?:  .*\n)+)', help_text).group(1).replace(',', ' ').split()
    assert len(accepted) > 40, accepted
    reported = set(re.findall(r'[\w-]+', text))
    same({name.rstrip('*') for name in accepted} - reported, set(), 'accepted options missing in the manual')
    formats = re.findall(r'^  ([a-z]+) ', help_text.split('Formats:')[1].split('Exit status:')[0], re.M)
    assert 'rntuple' in formats, help_text
    for name in formats:
        assert f'.Ql {name}' in text, f'{name} is not in the manual'


@case
def the_manual_pages_of_ntuple_have_every_command_option_and_exit_status():
    text, help_text = manual('ntuple.1'), output(NTUPLE, '--help').decode()
    commands = re.findall(r'^  ([a-z]+) +[A-Z[-]', help_text.split('\n\nOptions')[0], re.M)
    assert len(commands) >= 5, commands
    common = {'h', 'V', 'help', 'version'}
    same(common - manual_options(text), set())
    for name in commands:
        own, page = output(NTUPLE, name, '--help').decode(), manual(f'ntuple-{name}.1')
        missing = options_of(own) - common - manual_options(page)
        same(missing, set(), f'options of {name} missing in the manual')
    same(manual_statuses(text), statuses_of(help_text), 'exit status')


@case
def the_examples_of_the_manual_pages_of_ntuple_run():
    if not shutil.which('jq'):
        raise Skip('jq is not installed')
    for page in sorted(MANUALS.glob('ntuple[-.]*')):
        examples = re.findall(r'^\$ (.*)$', page.read_text().replace('\\&', ''), re.M)
        assert examples, page.name
        for line in examples:
            with scratch() as directory:
                for name in 'events.root', 'copy.root':
                    shutil.copy(data('example.root'), directory / name)
                result = command('bash', '-o', 'pipefail', '-c', line.replace('ntuple ', f'{NTUPLE} ', 1),
                                 cwd=directory)
                same(result.returncode, 0, f'{page.name}: {line}: {result.stderr.decode()}')


@case
def no_quotes_of_the_manual_pages_are_in_one_another():
    # Ql quotes the rest of its line.
    for page in MANUALS.iterdir():
        same(re.findall(r'^\..*\bQl\b.*\bQl\b.*$', page.read_text(), re.M), [], page.name)


@case
def a_source_that_is_no_known_format_is_refused_and_leaves_no_mountpoint():
    with scratch() as directory:
        (directory / 'text').write_text('This is not what you are looking for.\n' * 100)
        result = ntuplefs(directory / 'text', directory / 'mnt')
        same(result.returncode, 3, result.stderr.decode())
        assert str(directory / 'text') in result.stderr.decode(), result.stderr
        assert not (directory / 'mnt').exists()


@case
def a_truncated_source_is_damaged():
    with scratch() as directory:
        whole = data('example.root').read_bytes()
        (directory / 'cut.root').write_bytes(whole[:len(whole) // 2])
        result = ntuplefs(directory / 'cut.root', directory / 'mnt')
        same(result.returncode, 5, result.stderr.decode())
        assert not (directory / 'mnt').exists()


run(needs_fuse=False)
