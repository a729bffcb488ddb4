#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Skims: one Arrow, CSV or JSON lines file with some entries and fields. The values come from other
readers: ROOT, uproot, pylance, pyroaring and NumPy."""
import csv
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import time

import numpy as np

from harness import DATA, NTUPLE, Skip, case, command, data, need, output, run, same, scratch
from blz_writer import blz_array
from chains import copies
from string_writer import write_strings
from web import served

EXAMPLE = data('example.root')
NANO = data('nano.root')
METHODS = 'zstd', 'lz4', 'none'


def export(directory, *arguments, status=0, out='out.arrow', **options):
    """The file that the command writes; of a failure, the message. Nothing else is left beside it."""
    before = set(os.listdir(directory))
    result = command(NTUPLE, 'export', *arguments, directory / out, **options)
    same(result.returncode, status, f'{arguments}: {result.stderr}')
    written = {out} if status in (0, 10) else set()
    same(set(os.listdir(directory)), before | written, arguments)
    return directory / out if status == 0 else result.stderr.decode()


def table(path):
    arrow = need('pyarrow')
    with arrow.memory_map(str(path)) as file:
        read = arrow.ipc.open_file(file).read_all()
    read.validate(full=True)
    return read


def batches(path):
    arrow = need('pyarrow')
    with arrow.memory_map(str(path)) as file:
        reader = arrow.ipc.open_file(file)
        return [reader.get_batch(number) for number in range(reader.num_record_batches)]


def by_uproot(path, tree, names):
    """The columns as lists."""
    arrays = need('uproot').open(path)[tree].arrays(names)
    return {name: arrays[name].to_list() for name in names}


def columns(path, names):
    read = table(path)
    return {name: read[name].to_pylist() for name in names}


# ---- Values ----

PLAIN = ['run', 'event', 'weight', 'is_simulated', 'stream', 'muon_pt', 'trigger_bits']


@case
def fields_of_an_rntuple_have_the_values_that_uproot_reads():
    expected = by_uproot(EXAMPLE, 'Events', PLAIN)
    muons = need('uproot').open(EXAMPLE)['Events'].arrays(['muons'])['muons'].to_list()
    with scratch() as directory:
        for method in METHODS:
            path = export(directory, f'--compression={method}', EXAMPLE, 'Events', out=f'{method}.arrow')
            found = columns(path, [*PLAIN, 'muons'])
            same({name: found[name] for name in PLAIN}, expected, method)
            same(found['muons'], muons, method)
        sizes = {method: (directory / f'{method}.arrow').stat().st_size for method in METHODS}
        assert sizes['zstd'] < sizes['lz4'] < sizes['none'], sizes


@case
def every_kind_of_field_of_lance_has_the_values_of_the_table():
    """Those of table.arrow, which other tests compare with pylance and which is made in other pieces."""
    for source in sorted(DATA.glob('lance_*.lance')):  # some have no rows
        with scratch() as directory:
            whole = directory / 'whole.arrow'
            whole.write_bytes(output(NTUPLE, 'cat', source, f'{source.stem}/table.arrow'))
            expected, found = table(whole), table(export(directory, source, source.stem))
            same(found.schema.remove_metadata(), expected.schema.remove_metadata(), source.name)
            same(repr(found.to_pylist()) == repr(expected.to_pylist()), True, source.name)  # with NaN


@case
def rows_have_the_values_that_uproot_reads():
    expected = by_uproot(EXAMPLE, 'Events', PLAIN)
    with scratch() as directory:
        path = export(directory, f'--columns={",".join(PLAIN)}', EXAMPLE, 'Events', out='out.jsonl')
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        as_float = {name: np.float32 if name == 'muon_pt' else None for name in PLAIN}
        for name in PLAIN:
            found = [row[name] for row in rows]
            if as_float[name]:
                found = [[float(np.float32(value)) for value in values] for values in found]
            same(found, [[bool(bit) for bit in bits] for bits in expected[name]]
                 if name == 'trigger_bits' else expected[name], name)
        path = export(directory, '--columns=run,weight,stream,vertex/x,vertex/z,muon_pt', EXAMPLE, 'Events',
                      out='out.csv')
        with open(path, newline='') as file:
            lines = list(csv.reader(file))
        same(lines[0], ['run', 'weight', 'stream', 'muon_pt', 'vertex/x', 'vertex/z'])
        vertices = need('uproot').open(EXAMPLE)['Events'].arrays(['vertex'])['vertex'].to_list()
        for number, (run_, weight, stream, pt, x, z) in enumerate(lines[1:]):
            same([int(run_), float(weight), stream],
                 [expected[name][number] for name in ('run', 'weight', 'stream')])
            same([float(x), float(z)], [vertices[number]['x'], vertices[number]['z']])
            same(np.array(json.loads(pt), 'f4').tolist(), expected['muon_pt'][number])
        same(len(lines), 1001)


@case
def branches_of_a_ttree_have_the_values_that_uproot_reads():
    source = data('trees/trees_baskets.root')
    uproot = need('uproot')
    with scratch() as directory, uproot.open(source) as file:
        tree = file[file.keys(filter_classname='TTree')[0]]
        names = [name for name in tree.keys() if '.' not in name and '/' not in name]
        expected = {name: array.to_list() for name, array
                    in ((name, tree[name].array()) for name in names)}
        path = export(directory, source)
        same(columns(path, names), expected)
        path = export(directory, '--entries=3:17', f'--columns={names[0]}', source, out='part.arrow')
        same(columns(path, names[:1]), {names[0]: expected[names[0]][3:17]})


@case
def columns_of_lance_have_the_values_that_pylance_reads():
    lance = need('lance.file')
    with scratch() as directory:
        for name in 'lance_nested_2.1.lance', 'lance_texts_2.0.lance', 'lance_times_2.2.lance':
            expected = lance.LanceFileReader(str(data(name))).read_all().to_table()
            found = table(export(directory, data(name), out=f'{name}.arrow'))
            same(found.column_names, expected.column_names, name)
            for column in found.column_names:
                same(found[column].to_pylist(), expected[column].to_pylist(), f'{name}: {column}')


@case
def bitmaps_and_arrays_have_their_values():
    pyroaring = need('pyroaring')
    numbers = [1, 2, 3, 1000, 70000, *range(200000, 210000, 3)]
    with scratch() as directory:
        (directory / 'some.roaring').write_bytes(pyroaring.BitMap(numbers).serialize())
        found = table(export(directory, directory / 'some.roaring'))
        same([column.to_pylist() for column in found.columns][:1], [numbers])
        array = blz_array(directory / 'array', chunks=5, counts_on=True)
        found = table(export(directory, array, out='array.arrow'))
        same([column.to_pylist() for column in found.columns], [list(range(50))])


@case
def a_chain_is_one_file():
    expected = by_uproot(NANO, 'Events', ['run', 'MET_pt', 'Jet_pt'])
    with scratch() as directory:
        copies(directory, 'nano.root')
        for out in 'out.arrow', 'out.jsonl':
            path = export(directory, '--chain', '--columns=run,MET_pt,Jet_pt',
                          f'{directory}/run*.root', out=out)
        found = columns(directory / 'out.arrow', list(expected))
        same(found, {name: values * 3 for name, values in expected.items()})
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        same([row['run'] for row in rows], expected['run'] * 3)
        same(len(batches(directory / 'out.arrow')), 1, 'batches of small files')


@case
def an_address_is_a_source():
    if not os.environ.get('NTUPLE_FETCH'):
        raise Skip('there is no network helper')
    with scratch() as directory, served(DATA) as server:
        path = export(directory, server.url('nano.root'))
        same(columns(path, ['event']), by_uproot(NANO, 'Events', ['event']))


@case
def strings_that_are_not_utf8_are_warned_of():
    """Also if only their borders are wrong: they lie within characters."""
    arrow = need('pyarrow')
    columns_of = {'text': [b'fine', 'schön'.encode(), b''], 'other': [b'good', b'a\xff', b''],
                  'cut': [b'\xc3', b'\xa9', b''], 'late': [b'', b'', b'\xed\xa0\x80']}

    with scratch() as directory:
        source = write_strings(directory / 'texts.root', columns_of)
        others = ['cut', 'late', 'other']
        for options, warned in (([], others), (['--compression=none'], others), (['--columns=text'], []),
                                (['--arrow_strings=binary'], [])):
            result = command(NTUPLE, 'export', '-f', *options, source, directory / 'out.arrow')
            same((result.returncode, re.findall('ntuple: (.*): warning: strings that are not UTF-8.*'
                                                '--arrow_strings=binary', result.stderr.decode())),
                 (0, warned), options)
        found = columns(directory / 'out.arrow', columns_of)
        same(found, columns_of, 'bytes')
        for name in columns_of:
            export(directory, f'--columns={name}', source, out=f'{name}.arrow')
            try:
                table(directory / f'{name}.arrow')
                same(name, 'text')
            except arrow.lib.ArrowInvalid:
                assert name != 'text'
        result = command(NTUPLE, 'export', source, directory / 'out.csv')
        same((result.returncode, result.stderr), (0, b''), 'CSV keeps bytes')


# ---- Choice of entries and fields ----

@case
def selected_entries_are_written_alone():
    expected = by_uproot(NANO, 'Events', ['event', 'Muon_pt'])
    with scratch() as directory:
        chosen = directory / 'chosen.npy'
        np.save(chosen, np.arange(0, 200, 7))
        found = columns(export(directory, f'--select={chosen}', NANO), ['event', 'Muon_pt'])
        same(found, {name: values[::7] for name, values in expected.items()})
        for out in 'none.arrow', 'none.csv', 'none.jsonl':
            path = export(directory, '--entries=0:0', '--columns=event,Muon_pt', NANO, out=out)
            if out == 'none.arrow':
                same([table(path).num_rows, table(path).column_names], [0, ['event', 'Muon_pt']])
            else:
                same(path.read_bytes(), b'event,Muon_pt\r\n' if out == 'none.csv' else b'')


@case
def projected_fields_stand_for_their_collections():
    with scratch() as directory:
        names = table(export(directory, NANO)).column_names
        same([name for name in names if name.startswith('_')], [])
        same({'Muon_pt', 'nMuon', 'Jet_mass'} <= set(names), True)
        same(table(export(directory, NANO, 'Muon_*', out='muons.arrow')).column_names,
             ['Muon_pt', 'Muon_eta', 'Muon_charge'])


@case
def omitted_fields_are_named():
    with scratch() as directory:
        tree = data('trees/trees_other_file.root'), 'split'
        for out in 'a.arrow', 'a.csv', 'a.jsonl':
            message = export(directory, *tree, status=10, out=out)
            assert 'ntuple: i: omitted: ' in message, message
        assert 'i' not in table(directory / 'a.arrow').column_names
        message = export(directory, '--columns=i', *tree, status=4, out='b.csv')
        assert 'no field is left to export' in message, message
        message = export(directory, '--arrow_unions=omit', EXAMPLE, 'Events', status=10, out='c.arrow')
        same(re.findall('ntuple: (.*): omitted: a variant', message), ['comment', 'leading_cell']
             if 'leading_cell: omitted' in message else ['comment'])


@case
def unclear_sources_and_names_are_refused():
    with scratch() as directory:
        for arguments, status, said in (
                ([EXAMPLE], 1, '2 datasets here; name one: Events'),
                ([EXAMPLE, 'Event'], 2, 'did you mean'),
                (['--columns=nothing', NANO], 2, 'no such'),
                (['--columns=,', NANO], 1, '--columns=, names no field'),
                ([DATA / 'trees'], 1, 'with --chain'),
                ([directory / 'missing.root'], 2, 'No such file')):
            message = export(directory, *arguments, status=status)
            assert said in message, message
        message = export(directory, NANO, status=1, out='out.txt')
        assert 'must end in .arrow, .csv or .jsonl' in message, message


@case
def parquet_is_answered_with_a_line_of_python():
    with scratch() as directory:
        message = export(directory, '--columns=run,Muon_*', '--entries=5:20', NANO, status=1, out='s.parquet')
        line = message.splitlines()[-1]
        same(line, f"import ntuple; ntuple.open('{NANO}').only().to_parquet('{directory}/s.parquet', "
                   "columns=['run', 'Muon_*'], entries=(5, 20))")
        (directory / "it's.npy").write_bytes(b'')
        message = export(directory, "--select=Events:it's.npy", EXAMPLE, 'Events', status=1,
                         out='s.parquet', cwd=directory)
        entries = f"entries={{'Events': '{directory}/it\\'s.npy'}}"
        assert f"ntuple.open('{EXAMPLE}', {entries})['Events'].to_parquet(" in message, message


# ---- The file ----

@case
def equal_buffers_are_stored_once():
    with scratch() as directory:
        read = batches(export(directory, '--compression=none', NANO))[0]
        offsets = [read.column(read.schema.get_field_index(name)).buffers()[1].address
                   for name in ('Muon_pt', 'Muon_eta', 'Jet_pt', 'Jet_mass')]
        same(offsets[0] == offsets[1], True)
        same(offsets[2] == offsets[3], True)
        assert offsets[0] != offsets[2]


@case
def other_programs_read_all_methods():
    polars, duckdb = need('polars'), need('duckdb')
    total = sum(by_uproot(EXAMPLE, 'Events', ['weight'])['weight'])
    with scratch() as directory:
        for method in METHODS:
            path = export(directory, f'--compression={method}', EXAMPLE, 'Events', out=f'{method}.arrow')
            found = polars.scan_ipc(path).select(polars.col('weight').sum()).collect().item()
            assert abs(found - total) < 1e-6, (method, found, total)
            read = table(path)  # noqa: F841, named in the query
            same(duckdb.sql('select count(*), sum(len(muons)) from read').fetchall(), [(1000, 1536)])


@case
def incompressible_buffers_are_stored_as_they_are():
    """-1 in front of the buffer."""
    arrow = need('pyarrow')
    noise = np.random.default_rng(1).integers(0, 256, 100000, np.uint8)
    with scratch() as directory:
        source = need('lance.file')
        with source.LanceFileWriter(str(directory / 'noise.lance'),
                                    arrow.schema([('noise', arrow.uint8())])) as writer:
            writer.write_batch(arrow.table({'noise': noise}))
        for method in 'zstd', 'lz4':
            path = export(directory, f'--compression={method}', directory / 'noise.lance',
                          out=f'{method}.arrow')
            assert b'\xff' * 8 + noise[:64].tobytes() in path.read_bytes(), method
            same(table(path)['noise'].to_pylist(), noise.tolist(), method)


@case
def a_large_cluster_becomes_several_batches():
    arrow, source = need('pyarrow'), need('lance.file')
    rows = 1_500_000
    numbers = np.arange(rows) // 1000
    ends = np.concatenate(([0], np.cumsum(np.arange(rows) % 3)))
    lists = arrow.ListArray.from_arrays(arrow.array(ends, arrow.int32()),
                                        arrow.array(np.arange(ends[-1]) % 50, arrow.int64()))
    with scratch() as directory:
        whole = arrow.table({'numbers': numbers, 'lists': lists})
        with source.LanceFileWriter(str(directory / 'large.lance'), whole.schema) as writer:
            writer.write_batch(whole)
        found = batches(export(directory, directory / 'large.lance'))
        assert [batch.nbytes for batch in found] == [15_000_000] * 2, found  # of 16 MiB at most
        same(sum(batch.num_rows for batch in found), rows)
        read = arrow.Table.from_batches(found)
        same(bool((read['numbers'].to_numpy() == numbers).all()), True)
        same(read['lists'].cast(arrow.list_(arrow.int64())).combine_chunks().equals(lists), True)


@case
def a_skim_is_about_as_large_as_its_part_of_the_source():
    shared = os.environ.get('NTUPLE_SHARED')
    files = [('rntuple/real', 'ntpl003_lhcbOpenData_1000', 'DecayTree'),
             ('rntuple/real', 'ntpl002_vector', 'F'), ('ttree', 'uproot-Zmumu', 'events'),
             ('ttree', 'full-mcfile', 'CollectionTree')]
    if not shared or not os.path.isdir(f'{shared}/data'):
        raise Skip('../shared is not there')
    with scratch() as directory:
        for folder, name, dataset in files:
            source = next(path for path in os.scandir(f'{shared}/data/{folder}')
                          if path.name.endswith(f'-{name}.root')).path
            report = json.loads(output(NTUPLE, 'inspect', '--json', source))
            columns_of = {found['path']: found['columns'] for found in report['datasets']}
            stored = sum(column['stored_bytes'] for column in columns_of[dataset])
            size = export(directory, source, dataset, out=f'{name}.arrow').stat().st_size
            assert size < 1.1 * stored, (name, size, stored)


@case
def a_file_that_exists_stays_unless_forced():
    with scratch() as directory:
        (directory / 'out.csv').write_text('mine')
        message = export(directory, NANO, status=7, out='out.csv')
        assert message.endswith('cannot create without -f: File exists\n'), message
        same((directory / 'out.csv').read_text(), 'mine')
        export(directory, '-f', '--columns=run', NANO, out='out.csv')
        same((directory / 'out.csv').read_text().splitlines()[0], 'run')
        (directory / 'folder.csv').mkdir()
        for switches in [], ['-f']:
            export(directory, *switches, NANO, status=7, out='folder.csv')
        shutil.copy(NANO, directory / 'source.arrow')
        (directory / 'link.arrow').symlink_to('source.arrow')
        for out in 'source.arrow', 'link.arrow':
            message = export(directory, '-f', directory / 'source.arrow', status=7, out=out)
            assert 'is the source' in message, message
        same((directory / 'source.arrow').read_bytes() == NANO.read_bytes(), True)
        (directory / 'another').write_text('')
        same(os.stat(directory / 'out.csv').st_mode, os.stat(directory / 'another').st_mode)


def file_size_limit(size):
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@case
def failures_leave_nothing():
    with scratch() as directory:
        for out in 'out.arrow', 'out.csv', 'out.jsonl':
            message = export(directory, data('damaged_page.root'), status=5, out=out)
            assert 'page 0 of cluster 0' in message, message
            message = export(directory, EXAMPLE, 'Events', status=7, out=out,
                             preexec_fn=file_size_limit(16384))
            assert f'{out}: cannot write: File too large' in message, message
            (directory / out).write_text('mine')
            export(directory, '-f', data('damaged_page.root'), status=5, out=out)
            same((directory / out).read_text(), 'mine')
            (directory / out).unlink()
        export(directory, NANO, status=7, out='missing/out.csv')


@case
def incomplete_files_of_others_stay():
    with scratch() as directory:
        for number in range(3):
            (directory / f'.ntuple-export-{number:016x}.part').write_text('theirs')
        for status, source in ((0, NANO), (5, data('damaged_page.root'))):
            result = command(NTUPLE, 'export', source, directory / f'{status}.jsonl')
            same(result.returncode, status, result.stderr)
        same(sorted(path.suffix for path in directory.iterdir()), ['.jsonl'] + ['.part'] * 3)


@case
def signals_leave_nothing():
    with scratch() as directory:
        many = directory / 'many.txt'
        many.write_text(''.join(f'{path}\n' for path in copies(directory, 'example.root', 60)))
        for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
            before = set(os.listdir(directory))
            process = subprocess.Popen([NTUPLE, 'export', '--chain', many, 'Events', directory / 'out.jsonl'])
            end = time.monotonic() + 20
            while set(os.listdir(directory)) == before and process.poll() is None and time.monotonic() < end:
                time.sleep(0.001)
            process.send_signal(number)
            same(process.wait(20), -number)
            same(set(os.listdir(directory)), before)


# ---- cp --data ----

@case
def cp_can_leave_texts_and_stored_columns_behind():
    with scratch() as directory:
        same(command(NTUPLE, 'cp', '-r', '--data', EXAMPLE, directory / 'copy').returncode, 0)
        files = [path for path in (directory / 'copy').rglob('*') if path.is_file()]
        same({path.suffix for path in files}, {'.npy', '.json'})
        same({path.name for path in files if path.suffix == '.json'}, {'field.json'})
        same([path for path in (directory / 'copy').rglob('column.*')], [])
        same(np.load(directory / 'copy/Events/run/data.npy').tolist(),
             by_uproot(EXAMPLE, 'Events', ['run'])['run'])
        assert (directory / 'copy/calibration/Constants/gain/data.npy').exists()
        spot = directory / 'copy/Events/beam_spot'   # a list of three numbers
        same([path.relative_to(spot).as_posix() for path in spot.rglob('*.npy')], ['_0/data.npy'], 'once')


run(needs_fuse=False, at_once=2)
