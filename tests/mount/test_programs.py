# SPDX-License-Identifier: MIT
"""Common programs work on files of a mount. The expected values are the formulas by which
data/write_example.cxx filled the file: run = 362104 + entry / 300, event = 10000000000 + 3 *
entry."""
import hashlib
import json
import os
import subprocess

import numpy as np

from harness import Skip, case, command, data, libfuse_lacks, mounted, need, output, run, same, scratch

ENTRIES = 1000
RUN = (362104 + np.arange(ENTRIES) // 300).astype('<u4')
EVENT = (10000000000 + 3 * np.arange(ENTRIES)).astype('<u8')
EVENT_PATH = 'Events/event/data.bin'


def regular_files(top):
    return sorted(os.path.join(root, name) for root, _, names in os.walk(top) for name in names)


def sized_files(top):
    return [path for path in regular_files(top) if os.stat(path).st_size]


@case
def numpy_reads_a_column_from_the_file():
    with mounted(data('example.root')) as top:
        assert np.array_equal(np.fromfile(top / 'Events/run/data.bin', '<u4'), RUN)
        assert np.array_equal(np.fromfile(top / EVENT_PATH, '<u8'), EVENT)
        assert np.array_equal(np.fromfile(top / EVENT_PATH, '<u8', count=10, offset=80), EVENT[10:20])


# The length of the text of each entry's `stream`.
LENGTHS = np.array([len(text.encode()) for text in ('physics_Main', 'express', '', 'caf\u00e9',
                                                    'calibration')])[np.arange(ENTRIES) % 5]


def signed(path):
    array = np.load(path, mmap_mode='r')
    same(array.dtype.str, '<i8', str(path))
    return array


@case
def numpy_repeats_and_adds_by_offsets():
    with mounted(data('example.root')) as top:
        offsets = signed(top / 'Events/missing_energy/offsets.npy')  # one item, except for every third entry
        same(np.repeat(EVENT, np.diff(offsets)).tolist(), EVENT[np.arange(ENTRIES) % 3 != 0].tolist())
        offsets = signed(top / 'Events/stream/offsets.npy')
        ones = np.ones(LENGTHS.sum(), 'i8')
        same(np.add.reduceat(ones, offsets[:-1][LENGTHS > 0]).tolist(), LENGTHS[LENGTHS > 0].tolist())


@case
def numpy_takes_the_alternatives_of_a_variant_by_index():
    with mounted(data('example.root')) as top:
        tags, index = np.load(top / 'Events/comment/tags.npy'), signed(top / 'Events/comment/index.npy')
        numbers = np.load(top / 'Events/comment/_0/data.npy')
        same(np.take(numbers, index[tags == 1]).tolist(),
             (np.arange(ENTRIES) % 7)[np.arange(ENTRIES) % 5 != 0].tolist())


@case
def awkward_takes_offsets_as_they_are():
    ak = need('awkward')
    with mounted(data('example.root')) as top:
        offsets, text = (signed(top / 'Events/stream/offsets.npy'), np.load(top / 'Events/stream/data.npy'))
        layout = ak.contents.ListOffsetArray(ak.index.Index64(offsets), ak.contents.NumpyArray(text))
        same(ak.num(ak.Array(layout)).to_list(), LENGTHS.tolist())


@case
def arrow_takes_offsets_as_they_are():
    pa = need('pyarrow')
    with mounted(data('example.root')) as top:
        offsets, text = (signed(top / 'Events/stream/offsets.npy'), np.load(top / 'Events/stream/data.npy'))
        lists = pa.LargeListArray.from_arrays(pa.array(offsets), pa.array(text))
        lists.validate(full=True)
        same(lists.value_lengths().to_pylist(), LENGTHS.tolist())


@case
def numpy_loads_and_maps_an_array():
    with mounted(data('example.root')) as top:
        for mode in None, 'r', 'c':
            array = np.load(top / 'Events/event/data.npy', mmap_mode=mode)
            same((array.dtype.str, array.shape), ('<u8', (ENTRIES,)))
            assert np.array_equal(array, EVENT)
        array = np.memmap(top / EVENT_PATH, '<u8', 'r')
        same(int(array[777]), int(EVENT[777]))


@case
def numpy_maps_an_array_that_is_read_past_the_page_cache():
    if tuple(int(part) for part in os.uname().release.split('.')[:2]) < (6, 6):
        raise Skip('needs Linux 6.6')
    if libfuse_lacks():
        raise Skip(libfuse_lacks())
    with mounted(data('example.root'), options=['-o', 'direct_io=on']) as top:
        for mode in 'r', 'c':
            array = np.load(top / 'Events/event/data.npy', mmap_mode=mode)
            assert np.array_equal(array, EVENT)
            assert np.array_equal(np.fromfile(top / EVENT_PATH, '<u8'), EVENT)
            assert np.array_equal(array, EVENT)


@case
def files_end_where_stat_says():
    with mounted(data('example.root')) as top:
        for path in sized_files(top):
            with open(path, 'rb') as file:
                content = file.read()
                same(len(content), os.stat(path).st_size, path)
                same(os.pread(file.fileno(), 100, len(content)), b'', path)
                same(os.pread(file.fileno(), 100, len(content) - 1), content[-1:], path)


@case
def any_split_of_a_read_gives_the_same_bytes():
    with mounted(data('example.root')) as top:
        for step in 1, 7, 8, 4095, 4096, 4097, 100000:
            with open(top / EVENT_PATH, 'rb', buffering=0) as file:
                same(b''.join(iter(lambda: file.read(step), b'')), EVENT.tobytes(), f'{step} bytes at once')


@case
def cat_head_tail_wc_and_cmp():
    with mounted(data('example.root')) as top, scratch() as directory:
        path = top / EVENT_PATH
        same(output('cat', path), EVENT.tobytes())
        same(output('head', '-c', 80, path), EVENT[:10].tobytes())
        same(output('tail', '-c', 80, path), EVENT[-10:].tobytes())
        same(output('wc', '-c', path).split()[0], b'8000')
        (directory / 'expected').write_bytes(EVENT.tobytes())
        output('cmp', path, directory / 'expected')


@case
def wc_counts_the_lines_of_a_text():
    with mounted(data('example.root')) as top:
        path = top / 'Events/rows.jsonl'
        same(output('wc', '-l', path).split()[0], b'1000')
        rows = [json.loads(line) for line in output('head', '-n', 3, path).splitlines()]
        same([row['event'] for row in rows], [10000000000, 10000000003, 10000000006])


@case
def dd_skips_and_counts():
    with mounted(data('example.root')) as top:
        for block, skip, count in (1, 17, 30), (8, 100, 7), (512, 3, 2), (4096, 1, 1), (1 << 20, 0, 1), (64,
                125, 9):
            found = output('dd', f'if={top / EVENT_PATH}', f'bs={block}', f'skip={skip}', f'count={count}',
                           'status=none')
            same(found, EVENT.tobytes()[block * skip:block * (skip + count)], f'bs={block} skip={skip}')


@case
def sha256sum_agrees_with_the_values():
    with mounted(data('example.root')) as top:
        same(output('sha256sum', top / EVENT_PATH).split()[0].decode(),
             hashlib.sha256(EVENT.tobytes()).hexdigest())


@case
def ls_and_find_see_the_same_tree():
    with mounted(data('example.root')) as top:
        found = output('find', top, '-type', 'f').decode().splitlines()
        same(sorted(found), regular_files(top))
        listed = output('ls', '-lR', top).decode()
        same(sum(line.startswith('-r') for line in listed.splitlines()) > 100, True)
        assert '?' not in listed.split('Events', 1)[0]
        same(output('ls', top / 'Events/run').split()[:2], [b'column.0', b'data.bin'])


@case
def du_and_stat_count_blocks():
    with mounted(data('example.root')) as top:
        found = (top / EVENT_PATH).stat()
        same((found.st_size, found.st_blocks), (8000, 16))
        same(output('du', '-b', top / EVENT_PATH).split()[0], b'8000')


@case
def cp_copies_a_field_with_its_texts():
    with mounted(data('example.root')) as top, scratch() as directory:
        output('cp', '-r', top / 'Events/event', directory / 'copy')
        same((directory / 'copy/data.bin').read_bytes(), EVENT.tobytes())
        same(len((directory / 'copy/rows.jsonl').read_text().splitlines()), ENTRIES)
        for path in regular_files(top / 'Events/event'):
            copy = directory / 'copy' / os.path.relpath(path, top / 'Events/event')
            with open(path, 'rb') as original:
                same(copy.read_bytes(), original.read(), path)


@case
def grep_searches_the_tree():
    with mounted(data('example.root')) as top:
        found = output('grep', '-r', '-l', '--include=rows.jsonl', '10000000300',
                       top / 'Events/event').decode()
        same(found.split(), [str(top / 'Events/event/rows.jsonl')])
        same(output('grep', '-c', 'physics_Main', top / 'Events/stream/rows.jsonl'), b'200\n')


@case
def a_pipe_that_is_closed_early_is_no_failure():
    with mounted(data('example.root')) as top:
        for _ in range(20):
            result = command('sh', '-c', f'cat "{top}/Events/rows.jsonl" | head -n 1')
            same((result.returncode, result.stdout.count(b'\n')), (0, 1))


@case
def a_mapping_is_shared_between_processes():
    with mounted(data('example.root')) as top:
        script = ('import mmap, sys\nf = open(sys.argv[1], "rb")\n'
                  'm = mmap.mmap(f.fileno(), 0, mmap.MAP_SHARED, '
                  'mmap.PROT_READ)\nsys.stdout.buffer.write(m[:])')
        readers = [subprocess.Popen(['python3', '-c', script, str(top / EVENT_PATH)], stdout=subprocess.PIPE)
                   for _ in range(3)]
        for reader in readers:
            same(reader.communicate()[0], EVENT.tobytes())


run()
