# SPDX-License-Identifier: MIT
"""Sources that are skipped or invalid: both programs name them, once."""
import os
import shutil
from pathlib import Path

from harness import (DATA, NTUPLE, NTUPLEFS, Foreground, Skip, case, command, data, errors_of, lines,
                     mounted, output, run, same, scratch)

ADDRESSES = ['xrootd://server//file.root', 'gs://bucket/file.root', 'x-new+kind://server/file.root']


@case
def a_named_source_that_is_left_out_is_said_at_the_mount():
    with scratch() as directory:
        text, good = directory / 'notes.txt', data('example.root')
        text.write_text('Nothing of interest.\n')
        for sources in [good, text], [text, good]:
            with Foreground(*sources) as mount:
                same([line.split(': ')[:2] for line in mount.messages()], [['ntuplefs', str(text)]])
                same([(error['path'], error['status']) for error in errors_of(mount.mountpoint)],
                     [('notes.txt', 'not this format')])
                assert 'Events' in os.listdir(mount.mountpoint / 'example.root')


@case
def a_folder_shows_each_file_that_opens_alone():
    """Files of every format, files that a format refuses, and files of none."""
    with scratch() as directory:
        folder = directory / 'folder'
        folder.mkdir()
        for path in [*DATA.iterdir(), *(DATA / 'trees').iterdir()]:
            if path.is_file():
                shutil.copy(path, folder)
        shutil.copy(data('example.root'), folder / 'without an ending')
        shutil.copy(__file__, folder)
        (folder / 'empty.roaring').write_bytes(b'\x3a\x30' + bytes(6))
        (folder / 'of nothing').write_bytes(b'')
        opened = {path.name for path in folder.iterdir()
                  if command(NTUPLE, 'ls', path, '/').returncode == 0}
        same({Path(name).suffix for name in opened} >= {'', '.root', '.lance', '.blp', '.roaring'}, True,
             opened)
        with mounted(folder, options=('-o', 'broken=show')) as top:  # as `ntuple ls` shows them
            found = set(os.listdir(top))
            same(opened - found, set())
            same(found & {'of nothing', Path(__file__).name}, set())


@case
def a_folder_in_which_nothing_opens_is_said_at_the_mount():
    with scratch() as directory:
        folder = directory / 'folder'
        (folder / 'below').mkdir(parents=True)
        for name in 'a.txt', 'b.txt', 'below/c.txt':
            (folder / name).write_text('Nothing of interest.\n')
        with Foreground(folder) as mount:
            same(mount.messages(), [f'ntuplefs: {folder}: cannot show anything in this directory: '
                                    'none of its files is a data file that opens'])
            same([error['path'] for error in errors_of(mount.mountpoint)], [''])
        shutil.copy(data('example.root'), folder / 'below')
        with Foreground(folder) as mount:
            same((mount.messages(), errors_of(mount.mountpoint)), ([], []))


@case
def files_that_begin_with_a_dot_are_left_out_of_folders():
    """Resource forks, named like visible files, and hidden directories are also skipped; naming one
    explicitly opens it."""
    with scratch() as directory:
        folder = directory / 'folder'
        (folder / '.below').mkdir(parents=True)
        for name in 'run.root', '._run.root', '.hidden.root', '.below/run.root':
            shutil.copy(data('example.root'), folder / name)
        with mounted(folder) as top:
            same(sorted(name for name in os.listdir(top) if name != '.ntuplefs'), ['run.root'])
            same([os.path.exists(top / name) for name in ('._run.root', '.hidden.root', '.below')],
                 [False] * 3)
        with mounted('-o', 'chain', f'{folder}/**/*.root') as top:
            same([line['path'] for line in lines(top / 'Events/files.jsonl')], ['files.d/run.root'])
        same(output(NTUPLE, 'verify', folder).decode().count(': ok'), 1)
        with mounted(folder / '._run.root') as top:
            same('Events' in os.listdir(top), True)


@case
def folders_of_zarr_and_blosc2_are_refused_by_name_or_omitted():
    with scratch() as directory:
        folder = directory / 'folder'
        for name, marker, kind in (('array.zarr', '.zarray', 'a Zarr array'),
                                   ('group.zarr', '.zgroup', 'a Zarr group'),
                                   ('three.zarr', 'zarr.json', 'a Zarr store'),
                                   ('frame.b2nd', 'chunks.b2frame', 'a Blosc2 frame in a directory'),
                                   ('store.b2d', 'embed.b2e', 'a Blosc2 store (.b2d)')):
            (folder / name).mkdir(parents=True)
            (folder / name / marker).write_text('{}')
            (folder / name / '0').write_text('')
            for program in (NTUPLEFS, folder / name, directory / 'mnt'), (NTUPLE, 'ls',
                    folder / name), (NTUPLE, 'schema', folder / name):
                result = command(*program)
                same((result.returncode,
                      f'{folder / name}: {kind}, which is not a supported format' in result.stderr.decode()),
                     (3, True), result.stderr)
        shutil.copy(data('example.root'), folder)
        with mounted(folder) as top:
            same(sorted(name for name in os.listdir(top) if name != '.ntuplefs'), ['example.root'])


@case
def a_folder_with_many_other_files_is_not_searched_through():
    with scratch() as directory:
        folder = directory / 'folder'
        folder.mkdir()
        for number in range(600):
            (folder / str(number)).write_text('x')
        with Foreground(folder) as mount:
            same(mount.messages(), [])


@case
def where_no_source_opens_the_first_is_named_once():
    with scratch() as directory:
        for name in 'one.txt', 'two.txt':
            (directory / name).write_text('Nothing of interest.\n')
        result = command(NTUPLEFS, 'one.txt', './two.txt', 'mnt', cwd=directory)
        same(result.returncode, 3)
        message = result.stderr.decode()
        assert message.startswith('ntuplefs: one.txt: ') and message.count('one.txt') == 1, message


@case
def links_to_files_are_followed_and_links_to_folders_are_not():
    with scratch() as directory:
        folder, elsewhere = directory / 'folder', directory / 'elsewhere'
        folder.mkdir()
        elsewhere.mkdir()
        for place in folder, elsewhere:
            shutil.copy(data('example.root'), place / 'here.root')
        (folder / 'file.root').symlink_to(elsewhere / 'here.root')
        (folder / 'loop').symlink_to(folder)
        (folder / 'other').symlink_to(elsewhere)
        with Foreground(folder, options=['-o', 'links=follow']) as mount:
            same(sorted(os.listdir(mount.mountpoint)), ['.ntuplefs', 'file.root', 'here.root'])
            same(sorted(os.listdir(mount.mountpoint / 'file.root')),
                 sorted(os.listdir(mount.mountpoint / 'here.root')))
        (directory / 'link').symlink_to(elsewhere)
        with Foreground(directory / 'link') as mount:  # one that was named explicitly is
            same(sorted(os.listdir(mount.mountpoint)), ['.ntuplefs', 'here.root'])


@case
def remote_files_are_refused_with_what_to_do():
    with scratch() as directory:
        for address in ADDRESSES:
            for call in [NTUPLEFS, address, 'mnt'], [NTUPLEFS, data('example.root'), address,
                                                     'mnt'], [NTUPLE, 'ls', address], \
                    [NTUPLE, 'verify', address], [NTUPLE, 'inspect', address], [NTUPLE, 'cp', '-r', address,
                            'copy']:
                result = command(*call, cwd=directory)
                message = result.stderr.decode()
                same(result.returncode, 4, message)
                scheme = address.split('/')[0]
                assert f"cannot read {scheme}// addresses; copy it" in message and message.count(
                        address) == 1, message
        same(os.listdir(directory), [])


@case
def a_build_that_fetches_nothing_says_so():
    if 'NTUPLE_FETCH' in os.environ:
        raise Skip('this one does: test_remote.py')
    result = command(NTUPLE, 'ls', 'https://server/file.root')
    same((result.returncode, b'https://server/file.root: remote files need ntuplefs-fetch' in result.stderr,
          b'-Dhttp' in result.stderr),
         (4, True, True), result.stderr)


@case
def messages_name_the_file_once():
    with scratch() as directory:
        (directory / 'notes').write_text('Nothing of interest.\n')
        (directory / 'cut.root').write_bytes(data('example.root').read_bytes()[:1000])
        for file in 'nothing.root', 'notes', 'cut.root', str(directory / 'notes'), 'notes/below':
            for words in ['ls'], ['tree'], ['stat'], ['verify'], ['inspect'], ['cp', '-r']:
                result = command(NTUPLE, *words, file, *(['copy'] if words[0] == 'cp' else []), cwd=directory)
                message = result.stderr.decode()
                assert message.startswith(f'ntuple: {file}: '), message
                same((message.count(file), message.count(str(directory))), (1, 1 if file[0] == '/' else 0),
                     message)


run()
