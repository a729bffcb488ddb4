# SPDX-License-Identifier: MIT
"""Friends in RDataFrame's specifications: more fields for the same entries, in files with other
borders. Files and expected values are uproot's, and RDataFrame's where ROOT is installed."""
import errno
import json
import os
import pickle
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'support'))
from chains import chain, refusal  # noqa: E402
from harness import (NTUPLE, case, command, decoder_of, fails, lines, need, output, pread,  # noqa: E402
                     run, same, scratch)

ENTRIES = 23
TYPES = {'x': 'int32', 'v': 'var * int64'}


def write(path, kind, name, first, end, scale):
    """Entries [first, end) in clusters of three, with numbers and lists that name their entry."""
    uproot, ak = need('uproot'), need('awkward')
    entries = np.arange(first, end)
    arrays = {'x': (scale * entries).astype('i4'),
              'v': ak.unflatten(np.repeat(scale * entries, entries % 4), entries % 4)}
    with uproot.recreate(path) as file:
        made = file.mktree(name, TYPES) if kind == 'tree' else None
        for at in range(0, end - first, 3):
            piece = {key: array[at:at + 3] for key, array in arrays.items()}
            if made is None:
                made = file.mkrntuple(name, piece)
            else:
                made.extend(piece)


def series(directory, kind, name, borders, scale=10):
    """Files between borders. Returns `trees` and `files`."""
    files = []
    for first, end in zip(borders, borders[1:]):
        files.append(f'{name}_{kind}_{first}.root')
        write(directory / files[-1], kind, name, first, end, scale)
    return {'trees': [name], 'files': files}


def specify(directory, main, **friends):
    path = directory / 'text.json'
    path.write_text(json.dumps({'samples': {'s': main}, 'friends': friends}))
    return path


def by_uproot(directory, described):
    uproot, ak = need('uproot'), need('awkward')
    parts = [uproot.open(directory / file)[described['trees'][0]].arrays(['x', 'v'])
             for file in described['files']]
    return ak.to_list(ak.concatenate(parts))


def known(value):
    """Without the counter that uproot writes beside a list in a tree."""
    return {key: known(item) if isinstance(item, dict) else item for key, item in value.items()
            if key != 'nv'}


def expected_rows(directory, main, **friends):
    rows = by_uproot(directory, main)
    for name, described in friends.items():
        for row, value in zip(rows, by_uproot(directory, described)):
            row[name] = value
    return rows


def check(directory, main, **friends):
    text = specify(directory, main, **friends)
    expected = expected_rows(directory, main, **friends)
    dataset = main['trees'][0]
    with chain(text) as whole:
        same([known(row) for row in lines(whole / dataset / 'rows.jsonl')], expected)
        for name in friends:
            values = np.load(whole / dataset / name / 'x/data.npy')
            same(values.tolist(), [row[name]['x'] for row in expected])
        shown = lines(whole / dataset / 'files.jsonl')
        same([line.get('friend') for line in shown], [None] * len(main['files'])
             + [name for name, friend in friends.items() for _ in friend['files']])
        arrow = (whole / dataset / 'table.arrow').read_bytes()
    pyarrow = need('pyarrow')
    table = pyarrow.ipc.open_file(pyarrow.BufferReader(arrow)).read_all()
    table.validate(full=True)
    same([known(row) for row in table.to_pylist()], expected)
    result = command(NTUPLE, 'verify', '--chain', text)
    same(result.returncode, 0, result.stderr.decode())


def opened(whole, directory):
    """The ROOT files that the mount has open."""
    folder = Path(f'/proc/{decoder_of(whole)}/fd')
    paths = [Path(os.readlink(descriptor)) for descriptor in folder.iterdir()]
    return {path.name for path in paths if path.parent == directory.resolve() and path.suffix == '.root'}


@case
def friends_of_each_format_have_borders_of_their_own():
    with scratch() as directory:
        for main in ('tree', 'rntuple'):
            for friend in ('tree', 'rntuple'):
                samples = series(directory, main, 'T', (0, 11, ENTRIES))
                check(directory, samples, equal=series(directory, friend, 'E', (0, 11, ENTRIES), 100))
                check(directory, samples, one=series(directory, friend, 'O', (0, ENTRIES), 100),
                      many=series(directory, friend, 'M', (0, 2, 12, 13, ENTRIES), 1000))


@case
def trees_and_rntuples_are_friends_of_one_dataset():
    with scratch() as directory:
        check(directory, series(directory, 'tree', 'T', (0, 7, ENTRIES)),
              r=series(directory, 'rntuple', 'R', (0, 5, ENTRIES), 100),
              t=series(directory, 'tree', 'U', (0, 16, ENTRIES), 1000))


@case
def a_name_that_is_taken_gets_a_number():
    with scratch() as directory:
        samples = series(directory, 'rntuple', 'T', (0, ENTRIES))
        friend = series(directory, 'tree', 'F', (0, 4, ENTRIES), 100)
        with chain(specify(directory, samples, x=friend, **{'x~2': friend})) as whole:
            expected = [100 * entry for entry in range(ENTRIES)]
            same(np.load(whole / 'T/x/data.npy').tolist(), [10 * entry for entry in range(ENTRIES)])
            same(np.load(whole / 'T/x~2/x/data.npy').tolist(), expected)
            same(np.load(whole / 'T/x~3/x/data.npy').tolist(), expected)


def no_rows(text, *parts, reported=None, options=()):
    """The mount says why there are none, and so does a read."""
    with chain(text, options=options, reported=reported or parts[0]) as whole:
        fails(errno.EIO, lambda: (whole / 'T/x/data.bin').stat())
        reasons = [str(list(line.values())) for line in lines(whole / '.ntuplefs/errors.jsonl')]
        assert any(all(part in reason for part in parts) for reason in reasons), (parts, reasons)


@case
def another_number_of_entries_is_refused():
    with scratch() as directory:
        for kind in ('tree', 'rntuple'):
            samples = series(directory, kind, 'T', (0, 11, ENTRIES))
            for end in (ENTRIES - 1, ENTRIES + 1):
                text = specify(directory, samples, weights=series(directory, kind, 'F', (0, 9, end)))
                no_rows(text, 'friend "weights"', str(ENTRIES), str(end))
                message = refusal(text, options=('-o', 'chain=union'))
                for part in ('friend "weights"', f'expected {ENTRIES}', f'found {end}'):
                    assert part in message, (part, message)


@case
def another_number_of_entries_in_the_index_is_refused():
    with scratch() as directory:
        samples, index = series(directory, 'tree', 'T', (0, 11, ENTRIES)), directory / 'index'
        friend = series(directory, 'tree', 'F', (0, 9, ENTRIES + 1))
        learned = ''
        for name, described in (('T', samples), ('F', friend)):
            files = [directory / file for file in described['files']]
            with chain(*files, options=('-o', f'index={index}')) as whole:
                assert (whole / name / 'x/data.bin').stat().st_size
            learned += index.read_text()
        index.write_text(learned)
        message = refusal(specify(directory, samples, f=friend), options=('-o', f'index={index}'))
        assert 'friend "f": number of entries' in message and f'found {ENTRIES + 1}' in message, message


@case
def what_cannot_be_a_friend_is_refused_by_name():
    with scratch() as directory:
        samples = series(directory, 'tree', 'T', (0, ENTRIES))
        friend = series(directory, 'tree', 'F', (0, ENTRIES))
        message = refusal(specify(directory, samples, w=dict(friend, trees=['none'])))
        assert 'friend "w"' in message and "no dataset 'none'" in message, message
        text = specify(directory, samples, w=friend)
        assert 'only name' in refusal(text, directory / friend['files'][0])


@case
def selected_entries_are_those_of_all_fields():
    with scratch() as directory:
        samples = series(directory, 'rntuple', 'T', (0, 11, ENTRIES))
        friend = series(directory, 'tree', 'F', (0, 2, ENTRIES), 100)
        text = specify(directory, samples, f=friend)
        expected = expected_rows(directory, samples, f=friend)
        numbers = directory / 'numbers.npy'
        np.save(numbers, np.array([1, 2, 10, 12, 22]))
        for option, chosen in (('entries=9:14', expected[9:14]),
                               (f'select={numbers}', [expected[i] for i in (1, 2, 10, 12, 22)])):
            with chain(text, options=('-o', option)) as whole:
                same([known(row) for row in lines(whole / 'T/rows.jsonl')], chosen)
                pyarrow = need('pyarrow')
                table = pyarrow.ipc.open_file(whole / 'T/table.arrow').read_all()
                same([known(row) for row in table.to_pylist()], chosen)


@case
def files_that_the_index_knows_open_when_their_rows_are_read():
    with scratch() as directory:
        samples = series(directory, 'rntuple', 'T', (0, 5, 11, ENTRIES))
        friend = series(directory, 'rntuple', 'F', (0, 2, 12, ENTRIES), 100)
        text, index = specify(directory, samples, f=friend), directory / 'index'
        expected = expected_rows(directory, samples, f=friend)
        for _ in range(2):
            with chain(text, options=('-o', f'index={index}')) as whole:
                same([known(row) for row in lines(whole / 'T/rows.jsonl')], expected)
        indexed = [line for line in lines(index)]
        same(sorted(dataset['path'] for line in indexed for dataset in line.get('datasets', ())),
             ['F'] * 3 + ['T'] * 3)
        with chain(text, options=('-o', f'index={index}')) as whole:
            same((whole / 'T/f/x/data.bin').stat().st_size, 4 * ENTRIES)
            same(opened(whole, directory), {samples['files'][0], friend['files'][0]})
            value = pread(whole / 'T/f/x/data.bin', 4, 4 * 22, os.O_DIRECT)  # no more than is asked for
            same(np.frombuffer(value, 'i4')[0], expected[22]['f']['x'])
            same(opened(whole, directory), {samples['files'][0], friend['files'][0], friend['files'][2]})


@case
def files_of_friends_open_with_the_first_size():
    with scratch() as directory:
        for kind in ('tree', 'rntuple'):
            samples = series(directory, kind, 'T', (0, 5, 11, ENTRIES))
            friend = series(directory, kind, 'F', (0, 2, ENTRIES), 100)
            with chain(specify(directory, samples, f=friend), reported='') as whole:
                assert {'x', 'v', 'f'} <= set(os.listdir(whole / 'T')), os.listdir(whole / 'T')
                same(opened(whole, directory), {samples['files'][0], friend['files'][0]})
                same((whole / 'T/f/x/data.bin').stat().st_size, 4 * ENTRIES)
                same(opened(whole, directory), {*samples['files'], *friend['files']})


@case
def an_index_of_the_samples_alone_is_used():
    with scratch() as directory:
        samples = series(directory, 'rntuple', 'T', (0, 5, 11, ENTRIES))
        friend = series(directory, 'tree', 'F', (0, 12, ENTRIES), 100)
        text, index, files = specify(directory, samples, f=friend), directory / 'index', directory / 'files'
        files.write_text('\n'.join(samples['files']))
        with chain(files, options=('-o', f'index={index}')) as whole:
            same((whole / 'T/x/data.bin').stat().st_size, 4 * ENTRIES)
        for seen in ({samples['files'][0], *friend['files']}, {samples['files'][0], friend['files'][0]}):
            with chain(text, options=('-o', f'index={index}')) as whole:
                same((whole / 'T/f/x/data.bin').stat().st_size, 4 * ENTRIES)
                same(opened(whole, directory), seen)
        expected = expected_rows(directory, samples, f=friend)
        with chain(text, options=('-o', f'index={index}')) as whole:
            same([known(row) for row in lines(whole / 'T/rows.jsonl')], expected)


@case
def rdataframe_reads_the_same():
    ROOT = need('ROOT')
    with scratch() as directory:
        samples = series(directory, 'tree', 'T', (0, 11, ENTRIES))
        friend = series(directory, 'tree', 'F', (0, 2, ENTRIES), 100)
        for described in (samples, friend):
            described['files'] = [str(directory / file) for file in described['files']]
        text = specify(directory, samples, f=friend)
        found = ROOT.RDF.Experimental.FromSpec(str(text)).AsNumpy(['x', 'f.x'])
        with chain(text) as whole:
            np.testing.assert_array_equal(np.load(whole / 'T/x/data.npy'), found['x'])
            np.testing.assert_array_equal(np.load(whole / 'T/f/x/data.npy'), found['f.x'])


@case
def partitions_have_the_values_of_friends():
    ntuple = need('ntuple')
    with scratch() as directory:
        text = specify(directory, series(directory, 'rntuple', 'T', (0, 11, ENTRIES)),
                       f=series(directory, 'tree', 'F', (0, 2, ENTRIES), 100))
        parts = ntuple.chain([str(text)])['T'].partitions(bytes=1, columns=['x', 'f.x'])
        assert len(parts) > 2, parts
        found = [pickle.loads(pickle.dumps(part)).arrays() for part in parts]
        for path, scale in (('x', 10), ('f.x', 100)):
            same(np.concatenate([arrays[path] for arrays in found]).tolist(),
                 [scale * entry for entry in range(ENTRIES)])


@case
def files_of_friends_are_not_left_out():
    with scratch() as directory:
        samples = series(directory, 'tree', 'T', (0, 11, ENTRIES))
        friend = series(directory, 'tree', 'F', (0, 2, ENTRIES))
        text = specify(directory, samples, f=friend)
        (directory / samples['files'][0]).write_bytes(b'no file of ROOT')
        no_rows(text, 'friend "f": number of entries', reported=samples['files'][0],
                options=('-o', 'missing=skip'))
        for path, part in ((friend['files'][0], friend['files'][0]),
                           (samples['files'][1], 'none of its 2 files can be opened')):
            (directory / path).write_bytes(b'no file of ROOT')
            message = refusal(text, options=('-o', 'missing=skip'))
            assert part in message, message


@case
def tables_of_shared_names_are_whole():
    with scratch() as directory:
        text = specify(directory, series(directory, 'rntuple', 'T', (0, 11, ENTRIES)),
                       f=series(directory, 'tree', 'F', (0, 2, ENTRIES), 100))
        header, *rows = output(NTUPLE, 'cat', '--chain', text, 'T/table.csv').decode().splitlines()
        assert 'f' in header, header
        same(len(rows), ENTRIES)


run()
