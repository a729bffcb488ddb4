# SPDX-License-Identifier: MIT
"""A source that changes in place is noticed: reads outside of the kernel's page cache fail with
ESTALE, never mix old and new bytes, and errors.jsonl has one line for it."""
import errno
import json
import os
import shutil
import stat
import struct
from pathlib import Path

from harness import (IS_SANITIZED, case, data, decoder_of, errors_of, fails, mounted, needs, open_in,
                     own_memory_of, run, same, scratch, wait_until)

VALUES = 1000
REPLACED = int(os.environ.get('NTUPLE_REPLACED', '1000'))
MANY = 10000  # enough to distinguish memory per replacement from a thread's
MOST_GROWTH = 2 << 20
MAX_OPEN = 256  # versions of a dataset, though nobody uses them: they once came faster, the more there were
OPEN_BYTES = 128 << 10  # of each, at most


def bitmap(first):
    """A Roaring bitmap of one array container: VALUES integers from `first` on."""
    header = struct.pack('<IIHHI', 12346, 1, 0, VALUES - 1, 16)
    return header + struct.pack(f'<{VALUES}H', *range(first, first + VALUES))


def rewrite(path, content):
    """In place; the time changes even if the file system's clock has not moved on."""
    before = os.stat(path)
    with open(path, 'r+b') as file:
        file.write(content)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1000))


def read(path):
    with open(path, 'rb') as file:
        return file.read()


def change_under_mount(options):
    with scratch() as directory:
        source = directory / 'bits.roaring'
        source.write_bytes(bitmap(0))
        with mounted(source, options=options) as mountpoint:
            values = os.path.join(mountpoint, 'bits/values')
            same(struct.unpack(f'<{VALUES}I', read(f'{values}/data.bin')), tuple(range(VALUES)))
            rewrite(source, bitmap(7))
            fails(errno.ESTALE, read, f'{values}/column.0/data.bin')
            fails(errno.ESTALE, read, f'{values}/rows.jsonl')
            if options:
                fails(errno.ESTALE, read, f'{values}/data.bin')
            rewrite(source, bitmap(0))
            fails(errno.ESTALE, read, f'{values}/column.0/data.npy')
            same([failure['status'] for failure in errors_of(mountpoint)], ['source changed'])


@case
def what_the_cache_holds_of_a_file_that_changed_is_not_served():
    change_under_mount(())


@case
def with_direct_io_no_byte_of_a_file_that_changed_is_served():
    change_under_mount(('-o', 'direct_io=on'))


@case
def pages_without_checksums_of_a_file_that_changed_are_not_served():
    with scratch() as directory:
        source = directory / 'unchecked.root'
        shutil.copy(data('without_checksums.root'), source)
        with mounted(source, options=('-o', 'direct_io=on')) as mountpoint:
            values = os.path.join(mountpoint, 'unchecked/ramp/data.bin')
            read(values)
            with open(source, 'ab') as file:
                file.write(b'\0')
            fails(errno.ESTALE, read, values)


@case
def what_changes_the_status_of_a_file_alone_changes_nothing():
    with scratch() as directory:
        source = directory / 'bits.roaring'
        source.write_bytes(bitmap(0))
        with mounted(source, options=('-o', 'direct_io=on')) as mountpoint:
            os.chmod(source, 0o600)
            os.link(source, directory / 'another')
            same(len(read(os.path.join(mountpoint, 'bits/values/data.bin'))), 4 * VALUES)
            same(errors_of(mountpoint), [])


def deleted_files_of(process):
    return [name for name in open_in(process) if name.endswith(' (deleted)')]


@case
def nothing_is_held_of_what_was_replaced():
    with scratch() as directory:
        folder, fresh, old = directory / 'folder', directory / 'fresh', directory / 'old'
        shutil.copytree(data('lance_datasets/columns_2.2'), folder / 'columns')
        with mounted(folder) as mountpoint:
            decoder = decoder_of(mountpoint)
            for turn in range(40):
                (directory / 'bits').write_bytes(bitmap(turn))
                os.replace(directory / 'bits', folder / 'bits.roaring')
                shutil.copytree(data('lance_datasets/columns_2.2'), fresh)
                (folder / 'columns').rename(old)
                fresh.rename(folder / 'columns')
                shutil.rmtree(old)
                same(struct.unpack('<I', read(f'{mountpoint}/bits.roaring/bits/values/data.bin')[:4]),
                     (turn,))
                read(f'{mountpoint}/columns/file.json')
            wait_until(lambda: not deleted_files_of(decoder), 'nothing held of deleted files')
            same(errors_of(mountpoint), [])


@case
def files_of_other_formats_are_found_once_they_are_data_files():
    """Written in place, so that the directory stays as it was. Its listing did not keep them."""
    with scratch() as directory:
        folder = directory / 'folder'
        folder.mkdir()
        names = 'later.roaring', 'with blank %41.roaring'
        for name in *names, 'never.txt':
            (folder / name).write_bytes(b'words')
        (folder / 'link').symlink_to('never.txt')
        os.utime(folder, (1, 1))
        with mounted(folder) as mountpoint:
            same(os.listdir(mountpoint), ['.ntuplefs'])
            for name in names:
                (folder / name).write_bytes(bitmap(5))
            for name in 'later.roaring', 'with blank %2541.roaring':
                wait_until(lambda: os.path.isdir(os.path.join(mountpoint, name)), name)
            fails(errno.ENOENT, os.stat, os.path.join(mountpoint, 'never.txt'))
            os.utime(folder, (2, 2))  # the kernel keeps its listing until then
            same(set(os.listdir(mountpoint)), {'.ntuplefs', 'later.roaring', 'with blank %2541.roaring'})
            same([failure['status'] for failure in errors_of(mountpoint)], ['not this format'])


@case
def a_folder_of_many_other_files_is_listed_without_keeping_them():
    with scratch() as directory:
        folder = directory / 'folder'
        folder.mkdir()
        for number in range(MANY):
            (folder / f'{number}.txt').write_bytes(b'words')
        (folder / 'bits.roaring').write_bytes(bitmap(0))
        with mounted(folder) as mountpoint:
            decoder = decoder_of(mountpoint)
            os.stat(mountpoint)
            before = own_memory_of(decoder)
            same(set(os.listdir(mountpoint)), {'.ntuplefs', 'bits.roaring'})
            grown = own_memory_of(decoder) - before
            same(IS_SANITIZED or grown < MOST_GROWTH, True, f'the decoder grew by {grown} bytes')


@case
def what_was_replaced_takes_neither_numbers_nor_memory():
    """Any number of times, after the kernel has forgotten it: an inode has 20 bits of a node's
    number, a dataset 16."""
    with scratch() as directory:
        folder = directory / 'folder'
        folder.mkdir()
        (folder / 'bits0.roaring').write_bytes(bitmap(0))
        with mounted(folder) as mountpoint:
            decoder, memory, nodes = decoder_of(mountpoint), [], []
            for turn in range(REPLACED):
                (directory / 'bits').write_bytes(bitmap(turn % 60000))
                os.replace(directory / 'bits', folder / f'bits{turn % 7}.roaring')
                place = f'{mountpoint}/bits{turn % 7}.roaring'
                same(struct.unpack('<I', read(f'{place}/bits{turn % 7}/values/data.bin')[:4]),
                     (turn % 60000,))
                same(json.loads(read(f'{place}/file.json'))['file_bytes'], len(bitmap(0)))
                if turn % (REPLACED // 10) == 0:
                    memory.append(own_memory_of(decoder))
                nodes.append(os.stat(place).st_ino)
            same(len(set(nodes)) < 50, True, f'{len(set(nodes))} numbers')
            if REPLACED >= MANY:
                same(memory[-1] - memory[2] < MOST_GROWTH, True, f'memory over time: {memory}')
            same(errors_of(mountpoint), [])


@case
def versions_that_were_shown_take_neither_numbers_nor_memory():
    """A dataset with commits all day: another file of the same version number is another
    version."""
    with scratch() as directory:
        source = Path(shutil.copytree(data('lance_datasets/deletions_2.1'), directory / 'set'))
        manifest = min((source / '_versions').iterdir())  # the latest's
        content = manifest.read_bytes()
        with mounted(source) as mountpoint:
            decoder, memory, nodes = decoder_of(mountpoint), [], set()
            expected = read(f'{mountpoint}/set/id/data.bin')
            for turn in range(REPLACED):
                (directory / 'new').write_bytes(content)
                os.replace(directory / 'new', manifest)
                same(read(f'{mountpoint}/set/id/data.bin'), expected)
                nodes.add(os.stat(f'{mountpoint}/set/id').st_ino)
                if turn % (REPLACED // 10) == 0:
                    memory.append(own_memory_of(decoder) - len(nodes) * OPEN_BYTES)
            same(1 < len(nodes) < MAX_OPEN + 50, True, f'{len(nodes)} numbers')
            if REPLACED >= MANY:
                same(memory[-1] - memory[2] < MOST_GROWTH, True, f'memory over time: {memory}')
            same(errors_of(mountpoint), [])


@case
def what_was_moved_away_is_stale():
    """If the sandbox does not allow opening its files there: without the sandbox they are still
    the old ones, for holders of their directory."""
    needs('landlock')
    with scratch() as directory:
        folder = directory / 'folder'
        shutil.copytree(data('lance_datasets/deletions_2.2'), folder / 'columns')
        with mounted(folder) as mountpoint:
            dataset, = Path(mountpoint, 'columns').glob('*/ntuple.json')
            old = os.open(dataset.parent, os.O_RDONLY | os.O_DIRECTORY)
            (folder / 'columns').rename(directory / 'elsewhere')
            fails(errno.ESTALE, os.open, 'table.arrow', os.O_RDONLY, dir_fd=old)
            os.close(old)


@case
def paths_of_sources_are_shown_to_the_owner_only():
    with scratch() as directory:
        source = directory / 'bits.roaring'
        source.write_bytes(bitmap(0))
        with mounted(source) as mountpoint:
            mode = os.stat(os.path.join(mountpoint, '.ntuplefs/errors.jsonl')).st_mode
            same(stat.S_IMODE(mode), 0o400)


run()
