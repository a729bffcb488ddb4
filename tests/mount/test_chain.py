# SPDX-License-Identifier: MIT
"""Many files as one dataset: a chain shows what its files show, one after the other."""
import contextlib
import errno
import io
import json
import os
import shutil
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'support'))
from bloscpack_file import write_bloscpack  # noqa: E402
from chains import by_uproot, chain, compare, copies, refusal  # noqa: E402
from json_rules import problems  # noqa: E402
from harness import (IS_SANITIZED, NTUPLE, case, command, data, decoder_of, errors_of, fails, flip,
                     lines, mounted, need, ntuplefs, output, own_memory_of, pread, run, same, scratch,
                     unmount)

# A chain of each of these files with itself. The last ones are hard to join: pages shared by many
# columns, fields that were added later, several representations, empty ones.
ROOT_FILES = ['example', 'types', 'encodings', 'projected', 'names', 'dirs_and_cycles', 'compression_lzma',
              'split_keys', 'many_pages', 'late_fields', 'merged', 'multi_representation', 'empty',
              'without_checksums']


@case
def a_chain_is_its_files_one_after_the_other():
    for name in ROOT_FILES:
        with scratch() as directory:
            paths = copies(directory, f'{name}.root')
            with mounted(*paths) as singles, chain(directory / 'run*.root') as whole:
                trees = [singles / path.name for path in paths]
                count = compare(trees, whole)
                same(errors_of(whole), [], name)
                assert count or name == 'empty', name


@case
def files_of_many_fields_are_not_all_kept_open():
    """Each file has 1.5 MB of metadata in memory. Beyond 64 MB, a file is opened when its rows are read, and
    closed again."""
    fields, files = [f'field{i}' for i in range(2000)], 60 if IS_SANITIZED else 150
    with scratch() as directory:
        of_kind = [np.arange(3, dtype='i4') + 100 * kind for kind in range(2)]
        for kind in range(2):
            by_uproot(directory / f'kind{kind}.root', 'wide', dict.fromkeys(fields, 'int32'),
                      dict.fromkeys(fields, of_kind[kind]))
        paths = [directory / f'run{number:03}.root' for number in range(files)]
        for number, copy in enumerate(paths):
            shutil.copyfile(directory / f'kind{number % 3 == 0:d}.root', copy)
        expected = np.concatenate([of_kind[number % 3 == 0] for number in range(files)])
        with chain(directory / 'run*.root') as whole:
            decoder = decoder_of(whole)
            values = whole / 'wide/field1999/data.bin'
            for entry in (3 * files - 1, 4, 150, 151):
                with open(values, 'rb', buffering=0) as file:
                    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
                    same(os.pread(file.fileno(), 4, 4 * entry), expected[entry].tobytes(), entry)
            same(IS_SANITIZED or own_memory_of(decoder) < 128 << 20, True, f'{own_memory_of(decoder)} bytes')
            same((np.fromfile(values, 'i4') == expected).all(), True)
            same((np.fromfile(whole / 'wide/field0/data.bin', 'i4') == expected).all(), True)
            same(IS_SANITIZED or own_memory_of(decoder) < 192 << 20, True, f'{own_memory_of(decoder)} bytes')
            same(len(lines(whole / 'wide/files.jsonl')), files)
            layout = lines(whole / 'layout.jsonl')
            same({Path(line['file']).name for line in layout if line['owner'] == 'page'},
                 {path.name for path in paths})
            same(any(line['owner'] == 'gap' for line in layout), False)
            same(errors_of(whole), [])
            paths[-1].write_bytes(paths[-2].read_bytes())
        with chain(directory / 'run*.root') as whole:
            (whole / 'wide/field0/data.bin').stat()  # now all have been open
            paths[50].write_bytes((directory / 'kind0.root').read_bytes())
            fails(errno.ESTALE, (whole / 'wide/field1/data.bin').read_bytes)
            same([paths[50].name in error['what'] for error in errors_of(whole)], [True])


@case
def files_store_a_field_in_their_own_ways():
    cases = [('multi_representation', 'representations', {'number': 'float64', 'text': 'string'},
              {'number': np.arange(70.), 'text': [f'text {i}' for i in range(70)]}),
             ('late_fields', 'late', {'first': 'int32', 'list': 'var * float32', 'number': 'int32'},
              {'first': np.arange(9, dtype='i4'), 'list': [[float(i)] * (i % 3) for i in range(9)],
               'number': np.arange(9, dtype='i4') * 7})]
    for name, dataset, schema, values in cases:
        with scratch() as directory:
            some = by_uproot(directory / 'some.root', dataset, schema, values,
                             {f: v[:2] for f, v in values.items()})
            none = by_uproot(directory / 'none.root', dataset, schema)
            root = directory / 'root.root'
            shutil.copy(data(f'{name}.root'), root)
            shutil.copy(root, directory / 'again.root')
            for order in ((root, some, none, directory / 'again.root'), (none, some, root),
                          (some, root, none)):
                with mounted(*order) as singles, chain(*order) as whole:
                    compare([singles / path.name for path in order], whole)
                    same(errors_of(whole), [], (name, order))
                same(command(NTUPLE, 'verify', '--chain=check', directory / 'root.root').returncode, 0)
            assert b': ok' in output(NTUPLE, 'verify', '--chain', f'{directory}/*.root')


@case
def arrays_and_files_of_lance_are_chained():
    names = ['structures.blp', 'blocks.blp'] + [f'lance_{n}.lance' for n in
             ('nested_2.1', 'texts_2.0', 'dictionaries_0.2', 'numbers_0.2', 'mini_blocks_2.2', 'no_rows_2.2',
              'packed_2.1')]
    for name in names:
        with scratch() as directory:
            paths = copies(directory, name)
            with mounted(*paths) as singles, chain(*paths) as whole:
                trees = [singles / path.name / path.stem for path in paths]
                compare(trees, whole / paths[0].stem)
                same(errors_of(whole), [], name)


@case
def other_readers_see_one_table():
    arrow = need('pyarrow')
    uproot = need('uproot')
    with scratch() as directory:
        paths = copies(directory, 'example.root')
        with chain(directory / 'run*.root') as whole:
            table = arrow.ipc.open_file(str(whole / 'Events/table.arrow')).read_all()
            same(len(table), 3000)
            expected = np.concatenate([uproot.open(path)['Events']['event'].array(library='np')
                                       for path in paths])
            np.testing.assert_array_equal(table['event'].to_numpy(), expected)
            np.testing.assert_array_equal(np.fromfile(whole / 'Events/event/data.bin', '<u8'), expected)


@case
def a_list_says_the_order():
    with scratch() as directory:
        for i, values in enumerate(([1, 2], [3], [], [4, 5, 6])):
            write_bloscpack(directory / f'part{i}.blp', np.array(values, '<i8'))
        (directory / 'list.txt').write_text('# the last first\n\npart3.blp\r\npart[01].blp\n'
                                            + f'{directory}/part2.blp\n')
        with chain(directory / 'list.txt') as whole:
            found = next(whole.rglob('data.npy'))
            same(np.load(found).tolist(), [4, 5, 6, 1, 2, 3])


@case
def patterns_reach_through_folders():
    with scratch() as directory:
        for i, folder in enumerate(('.', 'a', 'a/b', 'c/.hidden', 'c [1]')):
            (directory / folder).mkdir(parents=True, exist_ok=True)
            write_bloscpack(directory / folder / 'x.blp', np.array([i], '<i8'))
        for pattern, expected in (('**/x.blp', [0, 1, 2, 4]), ('*/**/x.blp', [1, 2, 4]),
                                  ('a/**/b/*.blp', [2]),
                                  ('c*/*.blp', [4]), ('[a]/?.blp', [1])):
            with chain(f'{directory}/{pattern}') as whole:
                same(sorted(np.load(next(whole.rglob('data.npy'))).tolist()), expected, pattern)
        (directory / 'link').symlink_to('a')  # followed where a pattern names it
        for folder, pattern, expected in (('.', 'link/**/x.blp', [1, 2]), ('.', '*/**/x.blp', [1, 2, 4]),
                                          ('c [1]', '*.blp', [4]), ('c [1]', '../l*/b/x.blp', [2])):
            found = command(NTUPLE, 'cat', '--chain', pattern, 'values/data.npy', cwd=directory / folder)
            same(sorted(np.load(io.BytesIO(found.stdout)).tolist()), expected, (folder, pattern))


@case
def links_lead_to_files_wherever_they_are():
    with scratch() as directory, scratch() as elsewhere:
        paths = copies(elsewhere, 'example.root') + [elsewhere / 'data.lance']
        shutil.copytree(data('lance_datasets/deletions_2.2'), paths[-1])
        for number, path in enumerate(paths):
            (directory / f'{number}{path.suffix}').symlink_to(path)
        with mounted(*paths[:3]) as singles, chain(directory / '*.root') as whole:
            compare([singles / path.name for path in paths[:3]], whole)
        same(command(NTUPLE, 'verify', '--chain', directory / '3.lance').returncode, 0)


@case
def what_is_no_chain_is_refused_by_name():
    with scratch() as directory:
        paths = copies(directory, 'example.root')
        other = directory / 'other.root'
        shutil.copy(data('types.root'), other)
        bitmap = directory / 'array.blp'
        write_bloscpack(bitmap, np.arange(3))
        text = directory / 'list.txt'
        for content, expected in (('run*.root\nrun1.root\n', f'list.txt, line 2: {paths[1]}: is named twice'),
                                  ('run0.root\nlist.txt\n', 'line 2: ' + str(text)
                                   + ': the list names itself'),
                                  ('# none\n', 'names no file'),
                                  ('gone.root\n', 'line 1: ' + str(directory / 'gone.root'))):
            text.write_text(content)
            message = refusal(text)
            assert expected in message, (expected, message)
        for sources, expected in (([directory / 'none*.root'], 'none*.root: matches no file'),
                                  ([paths[0], paths[0]], 'run0.root: is named twice')):
            message = refusal(*sources)
            assert expected in message, (expected, message)
        message = refusal(directory)
        assert message.count(
                str(directory)) == 2 and (
                f"use a pattern for the files in it: '{directory}/*.root'") in message, message
        for sources, expected in (([paths[0], bitmap],
                                   f'{bitmap}: the format is blz, but {paths[0]} has the format rntuple'),
                                   ([paths[0], other],
                                    f"{other}: has no dataset 'Events'; the dataset is types")):
            for rule in 'check', 'union':
                same(refusal(*sources, options=('-o', f'chain={rule}')),
                     f'ntuplefs: {expected}; the option missing=skip accepts more files\n')
            with chain(*sources, reported=f'1 of 2 files cannot be used: {expected}') as whole:
                fails(5, os.stat, whole / 'Events/event/data.bin')
                assert any(expected in error['what'] for error in errors_of(whole)), errors_of(whole)
        bad = directory / 'bad.root'
        bad.write_bytes(b'root\0' + bytes(100))
        assert str(bad) in refusal(bad, paths[0])
        assert str(bad) in refusal(paths[0], bad, options=('-o', 'chain=check'))
        with chain(paths[0], bad, options=('-o', 'missing=skip'),
                   reported='1 of 2 files cannot be used: ') as whole:
            same(json.loads((whole / 'Events/ntuple.json').read_text())['entries'], 1000)
            same(json.loads((whole / 'file.json').read_text())['skipped_files'], 1)


@case
def a_field_that_differs_is_an_error_of_its_file():
    with scratch() as directory:
        for i, dtype in enumerate(('<i4', '<i4', '<f8', '<i4')):
            write_bloscpack(directory / f'part{i}.blp', np.arange(1024).astype(dtype))
        message = refusal(f'{directory}/part*.blp', options=('-o', 'chain=check'))
        for part in ('part0.blp', 'part2.blp', '<i4', '<f8'):
            assert part in message, message
        with chain(f'{directory}/part*.blp', reported='1 of 4 files cannot be used: ') as whole:
            values = whole / 'part0/values/data.bin'
            same(errors_of(whole), [])
            same(values.stat().st_size, 4 * 4096)
            same([error['status'] for error in errors_of(whole)], ['incompatible'],
                 'reported when the files were opened')
            for part in (0, 1, 3):
                same(np.frombuffer(pread(values, 4096, part * 4096), '<i4').tolist(), list(range(1024)), part)
            fails(5, pread, values, 4096, 8192)
            shown = [error['what'] for error in errors_of(whole)]
            assert len(shown) == 1 and 'part2.blp' in shown[0] and '<f8' in shown[0], shown


@case
def the_mount_says_which_files_of_a_chain_cannot_be_opened():
    with scratch() as directory:
        for name in 'run0.root', 'run1.root':
            shutil.copy(data('example.root'), directory / name)
        for name in 'run2.root', 'run3.root':
            (directory / name).write_text('no columns')
        for name in 'tree0.root', 'tree1.root':
            shutil.copy(data('trees/trees_baskets.root'), directory / name)
        write_bloscpack(directory / 'short.blp', np.arange(8, dtype='<i4'))
        write_bloscpack(directory / 'wide.blp', np.arange(8, dtype='<i8'))
        for option, pattern, words in (
                ('chain', 'run*.root', ('2 of 4 files', 'run2.root: a text file',
                                        '; -o missing=skip accepts more files\n')),
                ('chain,missing=skip', 'run*.root', ('2 of 4 files', 'run2.root: a text file', 'formats: ')),
                ('chain', '[rt]*[01].root', ('2 of 4 files', "tree0.root: has no dataset 'Events'",
                                             '; -o missing=skip accepts more files\n')),
                ('chain', '*.blp', ('1 of 2 files', 'wide.blp', '; -o chain=union accepts more files\n'))):
            result = ntuplefs('-o', option, f'{directory}/{pattern}', directory / 'mnt')
            message = result.stderr.decode()
            same((result.returncode, message.count('\n')), (0, 1), message)
            assert all(each in message for each in (*words, ' cannot be used')), message
            unmount(directory / 'mnt')


@case
def files_without_the_dataset_can_be_skipped():
    with scratch() as directory:
        for name in 'run0', 'run2':
            shutil.copy(data('example.root'), directory / f'{name}.root')
        for name in 'run1', 'run3':
            shutil.copy(data('trees/trees_baskets.root'), directory / f'{name}.root')
        for rule in 'chain', 'chain=check', 'chain=union':
            with mounted('-o', f'{rule},missing=skip', directory / 'run*.root') as whole:
                values = (whole / 'Events/event/data.bin').read_bytes()
                same(values, 2 * output(NTUPLE, 'cat', data('example.root'), 'Events/event/data.bin'))
                same(json.loads((whole / 'file.json').read_text())['skipped_files'], 2)
                lines = (whole / 'Events/files.jsonl').read_text().splitlines()
                same([json.loads(line)['is_left_out'] for line in lines], [False, True] * 2)
                assert (whole / 'files.d/run1.root/baskets').is_dir()
        for name in 'cat', 'verify':
            found = command(NTUPLE, name, '--chain', '--missing=skip', directory / 'run*.root',
                            *(['Events/event/data.bin'] if name == 'cat' else []))
            expected = f': 2 of 4 files are skipped; the first: {directory}/run1.root: '
            same((found.returncode, found.stderr.count(b'\n'), expected in found.stderr.decode()),
                 (0, 1, True), f'{name}: {found.stderr}')


@contextlib.contextmanager
def chain_of_many(count):
    """A chain of small files, the list of them, and how many descriptors its process has."""
    with scratch() as directory:
        paths = [directory / f'part{i:03}.blp' for i in range(count)]
        for i, path in enumerate(paths):
            write_bloscpack(path, np.array([i], '<i8'))
        with chain(f'{directory}/part*.blp') as whole:
            yield whole, paths, lambda: len(os.listdir(f'/proc/{decoder_of(whole)}/fd'))


@case
def names_open_the_first_file_alone():
    with chain_of_many(300) as (whole, paths, descriptors):
        before = descriptors()
        same(sorted(os.listdir(whole)), ['.ntuplefs', 'file.json', 'files.d', 'layout.jsonl', 'layout.svg',
                                         'part000'])
        assert {'values', 'ntuple.json', 'table.arrow'} <= set(os.listdir(whole / 'part000'))
        assert (whole / 'part000/values').is_dir()
        same(os.getxattr(whole / 'part000/values', 'user.ntuplefs.dtype'), b'<i8')
        same(descriptors(), before, 'descriptors')
        same((whole / 'part000/values/data.bin').stat().st_size, 300 * 8)
        assert before < descriptors() <= before + 128, (before, descriptors())  # as many as a pool has
        same(np.load(whole / 'part000/values/data.npy').tolist(), list(range(300)))
        assert descriptors() <= before + 128, descriptors()
        for path in paths:
            path.unlink()


@case
def a_file_that_is_missing_is_an_error_of_sizes_until_it_is_there():
    with chain_of_many(3) as (whole, paths, _):
        directory, kept = whole / 'part000/values', paths[1].with_suffix('.kept')
        paths[1].rename(kept)
        same(sorted(os.listdir(directory)), ['column.0', 'data.bin', 'data.npy', 'field.json', 'head.jsonl',
                                             'rows.jsonl'])
        for name in ('data.bin', 'field.json', 'rows.jsonl'):
            fails(errno.ESTALE, os.stat, directory / name)
        shown = errors_of(whole)
        same([(error['path'], error['what']) for error in shown],
             [('', f'1 of 3 files cannot be used: {paths[1]}: no longer exists'
                   '; the option missing=skip accepts more files')])
        kept.rename(paths[1])
        same(np.load(directory / 'data.npy').tolist(), [0, 1, 2])
        same(len(errors_of(whole)), 1)


@case
def a_file_that_does_not_open_is_an_error_of_sizes():
    with chain_of_many(3) as (whole, paths, _):
        paths[2].write_bytes(b'blpk' + bytes(50))
        directory = whole / 'part000'
        assert 'data.bin' in os.listdir(directory / 'values')
        for path in ('values/data.bin', 'values/data.npy', 'ntuple.json', 'table.arrow', '../file.json'):
            fails(errno.EIO, os.stat, directory / path)
        shown = errors_of(whole)
        only, = shown
        assert only['what'].startswith(f'1 of 3 files cannot be used: {paths[2]}: '), shown
        assert only['count'] >= 5, shown
        with chain(*paths, options=('-o', 'missing=skip'),
                   reported='1 of 3 files cannot be used: ') as others:
            same(np.load(others / 'part000/values/data.npy').tolist(), [0, 1])
            same(json.loads((others / 'file.json').read_text())['skipped_files'], 1)


@case
def damage_is_of_one_file_alone():
    with scratch() as directory:
        paths = copies(directory, 'example.root')
        pages = [json.loads(line) for line in output(NTUPLE, 'cat', paths[1],
                                                     'Events/weight/column.0/pages.jsonl').splitlines()]
        flip(paths[1], pages[0]['file_offset'] + 5)
        expected = np.frombuffer(output(NTUPLE, 'cat', paths[0], 'Events/weight/data.bin'), '<f8')
        with chain(directory / 'run*.root') as whole:
            values = whole / 'Events/weight/data.bin'
            assert pread(values, 4096, 0) == expected.tobytes()[:4096]
            fails(5, pread, values, 4096, 8192)
            assert pread(values, 8000, 16384) == expected.tobytes()[384:]
            shown = errors_of(whole)
            assert shown and all('run1.root' in error['what'] for error in shown), shown
        result = command(NTUPLE, 'verify', '--chain', directory / 'run*.root')
        same(result.returncode, 5)
        printed = result.stdout + result.stderr
        assert b'run1.root' in printed and b'run0.root' not in printed


def same_rows_before(tree, rows, count):
    """The `rows` before number `count` can be read, the others fail."""
    path = tree / 'rows.jsonl'
    for number in range(len(rows)):
        row = tree / 'rows.d' / f'{number}.json'
        if number < count:
            same(row.read_text(), rows[number], row)
        else:
            fails(5, row.read_bytes)
    with open(path, 'rb', buffering=0) as file:
        read = b''
        while len(read) < sum(map(len, rows[:count])):
            read += file.read(1 << 20)
        fails(5, file.read, 1)
    same(read.decode(), ''.join(rows[:count]))


@case
def rows_before_a_damaged_basket_of_strings_can_be_read():
    """How many bytes are in the basket is unknown, and so is where those of later entries begin."""
    with scratch() as directory:
        paths = copies(directory, 'trees/trees_containers.root', 4)
        below = 'containers/long_string'
        pages = [json.loads(line) for line in
                 output(NTUPLE, 'cat', paths[0], f'{below}/column.0/pages.jsonl').splitlines()]
        flip(paths[1], pages[0]['file_offset'] + pages[0]['stored_bytes'] - 20)
        flip(paths[3], pages[1]['file_offset'] + pages[1]['stored_bytes'] - 20)
        rows = output(NTUPLE, 'cat', paths[0], 'containers/rows.jsonl').decode().splitlines(keepends=True)
        entries = pages[0]['entries'] + pages[1]['entries']
        same(len(rows), entries)
        with mounted(paths[3]) as alone:
            same_rows_before(alone / 'containers', rows, pages[0]['entries'])
        with chain(*paths[:3]) as whole:
            same_rows_before(whole / 'containers', rows * 3, entries)
            fails(5, os.stat, whole / below / 'data.bin')
            same(lines(whole / 'containers/string/rows.jsonl'),
                 [json.loads(row)['string'] for row in rows * 3], 'another field')
            shown = [error['what'] for error in errors_of(whole)]
            cause = f'{paths[1]}: branch long_string: basket 0: '
            assert shown and all(cause in what for what in shown), shown


@case
def rows_before_a_file_with_other_fields_can_be_read():
    schema = {'number': 'int64', 'list': 'var * float32', 'word': 'string'}
    values = {'number': [1, 2], 'list': [[1.5], [2.5, 3.5]], 'word': ['one', 'zwei']}
    with scratch() as directory:
        for number in range(3):
            more = number == 1
            by_uproot(directory / f'run{number}.root', 'Events', schema | ({'more': 'int64'} if more else {}),
                      values | ({'more': [1, 2]} if more else {}))
        rows = output(NTUPLE, 'cat', directory / 'run0.root', 'Events/rows.jsonl').decode()
        rows = rows.splitlines(keepends=True)
        same([json.loads(row) for row in rows],
             [dict(zip(values, row)) for row in zip(*values.values())])
        with chain(directory / 'run*.root', reported='1 of 3 files cannot be used: ') as whole:
            same_rows_before(whole / 'Events', rows * 3, 2)
            same((whole / 'Events/number/data.bin').stat().st_size, 6 * 8)
            for path in 'list/_0/data.bin', 'word/data.bin':
                fails(5, os.stat, whole / 'Events' / path)


@case
def lines_name_their_files():
    with scratch() as directory:
        paths = copies(directory, 'example.root', 2)
        with chain(directory / 'run*.root') as whole:
            names = [str(path) for path in paths]
            for found in (lines(whole / 'Events/clusters.jsonl'),
                          lines(whole / 'Events/run/column.0/pages.jsonl'),
                          lines(whole / 'layout.jsonl')):
                same(list(dict.fromkeys(line['file'] for line in found)), names)
            for path in ('file.json', 'Events/ntuple.json', 'Events/run/field.json',
                         'Events/run/column.0/column.json'):
                same(list(problems(json.loads((whole / path).read_text()))), [], path)


@case
def commands_take_chains():
    with scratch() as directory:
        paths = copies(directory, 'example.root', 2)
        pattern = directory / 'run*.root'
        one = output(NTUPLE, 'cat', paths[0], 'Events/rows.jsonl')
        same(output(NTUPLE, 'cat', '--chain', pattern, 'Events/rows.jsonl'), one * 2)
        assert b': ok' in output(NTUPLE, 'verify', '--chain=check', pattern)
        assert b'entries         2000' in output(NTUPLE, 'inspect', '--chain', pattern)
        same(output(NTUPLE, 'cp', '-r', '--chain', pattern, 'Events/run', directory / 'copy'), b'')
        same((directory / 'copy/data.bin').stat().st_size, 8000)


run()
