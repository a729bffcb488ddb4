#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""table.arrow in other programs: pyarrow, polars, DuckDB and pandas open it, on a mount and as a
copy.

Values are compared with those of another reader, and with rows.jsonl. Missing programs are
skipped."""
import ctypes
import json
import os
import pathlib
import sys

from bloscpack_file import write_bloscpack
from values import agrees, values_of

import harness
from harness import Skip, case, data, mounted, need, output, same, stats


def text_rows(source, path):
    return [json.loads(line) for line in output(harness.NTUPLE, 'cat', source,
                                                f'{path}/rows.jsonl').decode().splitlines()]


def check_table(table, path, expected, rows):
    table.validate(full=True)
    same(table.num_rows, expected['entries'], f'{path}: rows')
    left_out = [item['field'].partition('/')[0]
                for item in json.loads(table.schema.metadata[b'ntuple.left_out'])]
    same(sorted({*table.column_names, *left_out}), sorted(expected['fields']), f'{path}: fields')
    for name in table.column_names:
        found = values_of(table.column(name), table.schema.field(name))
        values = expected['fields'][name].get('values')
        for row, value in enumerate(found):
            if values is not None and not agrees(value, values[row]):
                raise AssertionError(f'{path}: entry {row}: {name}: {value!r} instead of {values[row]!r}')
            if rows and not agrees(value, rows[row][name]):
                raise AssertionError(f'{path}: entry {row}: {name}: {value!r}, but {rows[row][name]!r} in '
                                     f'rows.jsonl')


def sources():
    for source in sorted(harness.DATA.glob('*.root')):
        if source.with_suffix('.json').exists() and not source.stem.startswith(('damaged', 'names')):
            yield source, json.loads(source.with_suffix('.json').read_text())['datasets']


@case
def pyarrow_reads_a_copy_of_every_file():
    pa = need('pyarrow')
    for source, datasets in sources():
        for path, expected in datasets.items():
            rows, seen = text_rows(source, path), set()
            for unions in 'struct', 'union':
                copy = output(harness.NTUPLE, 'cat', f'--arrow_unions={unions}', source,
                              f'{path}/table.arrow')
                if copy not in seen:    # nothing else changes
                    with pa.ipc.open_file(pa.py_buffer(copy)) as file:
                        check_table(file.read_all(), f'{source.name}: {path}: {unions}', expected, rows)
                seen.add(copy)


@case
def pyarrow_maps_the_file_of_a_mount():
    pa = need('pyarrow')
    for source, datasets in sources():
        with mounted(source) as top:
            for path, expected in datasets.items():
                with pa.memory_map(str(top / path / 'table.arrow')) as mapped:
                    table = pa.ipc.open_file(mapped).read_all()
                    check_table(table, f'{source.name}: {path}', expected, None)
                    del table


@case
def strings_are_bytes_where_that_is_requested():
    pa = need('pyarrow')
    source = data('types.root')
    for option, kind in ('text', pa.large_utf8()), ('binary', pa.large_binary()):
        copy = output(harness.NTUPLE, 'cat', f'--arrow_strings={option}', source, 'types/table.arrow')
        same(pa.ipc.open_file(pa.py_buffer(copy)).schema.field('string').type, kind, option)


def types_of(pa):
    large, fixed, field = pa.large_list, pa.list_, pa.field
    x_y = pa.struct([field('x', pa.float32(), False), field('y', pa.int16(), False)])
    return {
        'bool': pa.bool_(), 'char': pa.uint8(), 'byte': pa.uint8(), 'int8': pa.int8(), 'uint16': pa.uint16(),
        'int64': pa.int64(), 'float': pa.float32(), 'double': pa.float64(), 'string': pa.large_utf8(),
        'vector_int32': large(field('item', pa.int32(), False)),
        'bitset_65': fixed(field('item', pa.bool_(), False), 65),
        'array': fixed(field('item', pa.int32(), False), 3), 'record': x_y, 'optional': pa.int32(),
        'vector_optional': large(field('item', x_y, True)), 'streamed': pa.large_binary(),
        'cardinality_64': pa.uint64(),
        'pair': pa.struct([field('_0', pa.large_utf8(), False), field('_1', pa.int32(), False)]),
    }


@case
def types_are_those_of_the_table_in_the_documentation():
    pa = need('pyarrow')
    copy = output(harness.NTUPLE, 'cat', data('types.root'), 'types/table.arrow')
    schema = pa.ipc.open_file(pa.py_buffer(copy)).schema
    for name, kind in types_of(pa).items():
        same(schema.field(name).type, kind, name)
    same([schema.field(name).nullable for name in ('optional', 'unique_ptr', 'int32')], [True, True, False],
         'nullable')
    same(schema.field('optional').metadata[b'ntuple.type'], b'std::optional<std::int32_t>',
         'type of the optional')
    variant = schema.field('variant').type
    alternatives = variants(pa)['union']
    same(variant, pa.struct([pa.field('tag', pa.uint32(), False)]
                            + [kind.with_nullable(True) for kind in alternatives[1:]]),
         'variant')


def variants(pa):
    """{value of the option: the fields of 'variant' in types.root, or None if it is omitted}"""
    found = {}
    for unions in 'struct', 'union', 'omit':
        copy = output(harness.NTUPLE, 'cat', f'--arrow_unions={unions}', data('types.root'),
                      'types/table.arrow')
        schema = pa.ipc.open_file(pa.py_buffer(copy)).schema
        number = schema.get_field_index('variant')
        found[unions] = list(schema.field(number).type) if number >= 0 else None
        left_out = [item['field'] for item in json.loads(schema.metadata[b'ntuple.left_out'])]
        same('variant' in left_out, unions == 'omit', f'{unions}: left out')
    return found


@case
def a_variant_is_what_is_requested():
    pa = need('pyarrow')
    found = variants(pa)
    same((found['union'][0].type, found['struct'][0].name, found['omit']), (pa.null(), 'tag', None),
         'variants')
    same([kind.type for kind in found['struct'][1:]], [kind.type for kind in found['union'][1:]],
         'alternatives')
    same([kind.nullable for kind in found['struct']], [False] + [True] * (len(found['struct']) - 1),
         'nullable')
    with mounted(data('types.root'), '-o',
                 'arrow_unions=union') as top, pa.memory_map(str(top / 'types/table.arrow')) as mapped:
        same(pa.types.is_union(pa.ipc.open_file(mapped).schema.field('variant').type), True, 'of a mount')


@case
def every_program_opens_the_example_as_it_is():
    """Its events have a variant. The program itself opens the file if it can, not pyarrow."""
    pa, polars, pandas, duckdb = need('pyarrow'), need('polars'), need('pandas'), need('duckdb')
    source = data('example.root')
    rows = text_rows(source, 'Events')
    kinds = {str: 'a string', int: 'a number'}
    with mounted(source) as top:
        file = top / 'Events/table.arrow'
        events = pa.ipc.open_file(pa.memory_map(str(file))).read_all()
        found = {
            'pyarrow': events.column('comment').to_pylist(),
            'polars': polars.read_ipc(file)['comment'].to_list(),
            'polars, mapped': polars.scan_ipc(file).select('comment').collect()['comment'].to_list(),
            'pandas': pandas.read_feather(file)['comment'].to_list(),
            'duckdb': [value for value, in duckdb.sql('select comment from events').fetchall()],
        }
        del events
        for name, values in found.items():
            for entry, (value, row) in enumerate(zip(values, rows, strict=True)):
                tag = value['tag']
                same(value[f'_{tag - 1}'] if tag else None, row['comment'], f'{name}: entry {entry}')
    same({type(row['comment']) for row in rows} >= set(kinds), True, 'there are both alternatives')


@case
def types_that_only_NumPy_and_Arrow_have_are_the_same_bytes():
    """A view of Arrow's buffer as NumPy's type equals the array; types with other bytes in Arrow
    are skipped."""
    pa, numpy = need('pyarrow'), need('numpy')
    kinds = {'S5': pa.binary(5), 'V3': pa.binary(3)}
    for unit in 's', 'ms', 'us', 'ns':
        kinds[f'<M8[{unit}]'] = pa.timestamp(unit)
        kinds[f'<m8[{unit}]'] = pa.duration(unit)
    others = ['<M8[D]', '<m8[25s]', '>i4', '>M8[s]', '<U2', '<c8']
    rows = numpy.zeros(1000, [(kind, kind) for kind in [*kinds, *others]])
    rows['S5'] = [f'{i:03}'.encode() for i in range(1000)]
    for number, kind in enumerate(kinds):
        if 'S' not in kind and 'V' not in kind:
            rows[kind] = (numpy.arange(1000) - 500) * (number + 10 ** 9)
            rows[kind][0] = 'NaT'
    rows['V3'] = numpy.frombuffer(numpy.arange(3000, dtype='u1').tobytes(), 'V3')
    with harness.scratch() as directory:
        write_bloscpack(directory / 'rows.blp', rows)
        copy = output(harness.NTUPLE, 'cat', directory / 'rows.blp', 'rows/table.arrow')
    table = pa.ipc.open_file(pa.py_buffer(copy)).read_all()
    table.validate(full=True)
    values = table.column('values').combine_chunks()
    same({field.name: field.type for field in values.type}, kinds, 'types')
    for kind in kinds:
        same(values.field(kind).buffers()[1].to_pybytes(), rows[kind].tobytes(), kind)
    left_out = [item['field'] for item in json.loads(table.schema.metadata[b'ntuple.left_out'])]
    same(left_out, [f'values/{kind}' for kind in others], 'left out')


@case
def polars_maps_the_file():
    polars = need('polars')
    datasets = json.loads(data('example.json').read_text())['datasets']
    with mounted(data('example.root')) as top:
        [flat] = [path for path in datasets if path != 'Events']
        table = polars.scan_ipc(top / flat / 'table.arrow').collect()
        same(table.columns, list(datasets[flat]['fields']), 'columns')
        for row, line in enumerate((top / flat / 'rows.jsonl').read_text().splitlines()):
            same(agrees(list(table.row(row)), list(json.loads(line).values())), True, f'{flat}: entry {row}')
        events = polars.scan_ipc(top / 'Events/table.arrow').select('run', 'muon_pt').collect()
        for name in events.columns:
            for row, value in datasets['Events']['fields'][name]['sample'].items():
                found = events[name][int(row)]
                same(agrees(found.to_list() if name == 'muon_pt' else found, value), True,
                     f'{name}: entry {row}')


@case
def duckdb_answers_a_query():
    pa, duckdb = need('pyarrow'), need('duckdb')
    with mounted(data('example.root')) as top:
        events = pa.ipc.open_file(pa.memory_map(str(top / 'Events/table.arrow'))).read_all().select(['run',
                'event'])
        found = duckdb.sql(
                'select run, count(*), max(event) from events group by run order by run').fetchall()
        same(found, [(362104, 300, 10000000897), (362105, 300, 10000001797), (362106, 300, 10000002697),
                     (362107, 100, 10000002997)], 'events of each run')
        del events


@case
def pandas_takes_the_table():
    pa = need('pyarrow')
    need('pandas')
    copy = output(harness.NTUPLE, 'cat', data('example.root'), 'Events/table.arrow')
    frame = pa.ipc.open_file(pa.py_buffer(copy)).read_all().select(['run', 'event', 'stream']).to_pandas()
    same((len(frame), int(frame['event'].iloc[-1])), (1000, 10000002997), 'frame')


class ArrowStructure(ctypes.Structure):
    """Large enough for either structure of the interface; pyarrow reads its contents."""
    _fields_ = [('words', ctypes.c_uint64 * 16)]


@case
def pyarrow_imports_what_the_library_exports():
    """The batches outlive the file, the reader and the table that made them."""
    pa = need('pyarrow')
    try:
        library = ctypes.CDLL(harness.os.environ.get('NTUPLE_ARROW_MODULE', './no such module'))
    except OSError as error:
        raise Skip(f'the module cannot be loaded here: {error}') from None
    source = data('types.root')
    expected = json.loads(data('types.json').read_text())['datasets']['types']
    for number, unions in enumerate(('struct', 'union', 'omit')):
        check_export(pa, library, source, number, unions, expected)


def check_export(pa, library, source, number, unions, expected):
    file, reader, arrow = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    schema, array, batches = ArrowStructure(), ArrowStructure(), []
    same(library.open_dataset(str(source).encode(), 0, number, ctypes.byref(file), ctypes.byref(reader),
                              ctypes.byref(arrow)),
         0, 'open_dataset')
    same(library.export_schema(arrow, ctypes.byref(schema)), 0, 'export_schema')
    found_schema = pa.Schema._import_from_c(ctypes.addressof(schema))
    for batch in range(library.count_batches(arrow)):
        same(library.export_batch(arrow, batch, ctypes.byref(array)), 0, 'export_batch')
        batches.append(pa.RecordBatch._import_from_c(ctypes.addressof(array), found_schema))
    library.close_dataset(file, reader, arrow)
    check_table(pa.Table.from_batches(batches), 'types', expected, text_rows(source, 'types'))
    copy = output(harness.NTUPLE, 'cat', f'--arrow_unions={unions}', source, 'types/table.arrow')
    same(pa.ipc.open_file(pa.py_buffer(copy)).schema.equals(found_schema, check_metadata=True), True,
         'the schemas')


def decoded(top, action):
    """The number of pages that an action decodes, without readahead, which depends on the speed
    of the reader."""
    before = stats(top)
    action()
    after = stats(top)
    pages, ahead = (after[name] - before[name] for name in ('pages_decoded', 'pages_ahead'))
    return pages - ahead


def write_flat(path, columns, entries):
    """One page per column, many times larger than the 128 KiB that the kernel reads around an
    offset."""
    uproot, numpy = need('uproot'), need('numpy')
    random = numpy.random.default_rng(1)
    with uproot.recreate(path) as file:
        file.mkrntuple('flat', {f'x{i:02}': random.random(entries) for i in range(columns)})


def set_readahead(top, kibibytes):
    """Sets the kernel's readahead of a mount. Returns whether it could: only root may."""
    device = top.stat().st_dev
    setting = pathlib.Path(f'/sys/class/bdi/{os.major(device)}:{os.minor(device)}/read_ahead_kb')
    try:
        setting.write_text(str(kibibytes))
    except OSError:
        return False
    return True


def sum_by_pyarrow(path, column):
    import pyarrow as pa
    with pa.memory_map(str(path)) as mapped:
        only = pa.ipc.IpcReadOptions(included_fields=[int(column[1:])])
        return sum(pa.ipc.open_file(mapped, options=only).read_all().column(column).to_pylist())


def sum_by_polars(path, column):
    import polars
    return polars.scan_ipc(path).select(polars.col(column)).collect()[column].sum()


def sum_by_duckdb(path, column):
    import duckdb
    import pyarrow.dataset
    flat = pyarrow.dataset.dataset(path, format='ipc')
    return duckdb.sql(f'select sum({column}) from flat').fetchall()[0][0]


@case
def a_query_of_one_column_decodes_its_page():
    """Without the kernel's readahead, its page alone. With it, also pages that are read around its
    values: the kernel decides how many, and reads more on a busy machine."""
    need('polars'), need('duckdb')
    with harness.scratch() as directory:
        write_flat(directory / 'flat.root', 20, 110000)
        for query in sum_by_pyarrow, sum_by_polars, sum_by_duckdb:
            for most in 1, 10:
                with mounted(directory / 'flat.root') as top:
                    same(json.loads((top / 'flat/ntuple.json').read_text())['pages'], 20, 'pages')
                    if most == 1 and not set_readahead(top, 0):
                        continue
                    pages = decoded(top, lambda: query(top / 'flat/table.arrow', 'x09'))
                    if not 1 <= pages <= most:
                        raise AssertionError(f'{query.__name__}: {pages} pages decoded of 20, not {most}')


@case
def a_batch_with_gaps_has_all_values():
    """Buffers of all kinds, large and small, in batches with and without gaps. What is read across
    the gaps through a mount is what a copy has."""
    pa, numpy, lance = need('pyarrow'), need('numpy'), need('lance.file')
    random = numpy.random.default_rng(2)
    for rows in 1000, 400_000:
        numbers = random.random(rows)
        ends = numpy.arange(rows + 1, dtype='i4') * 2
        table = pa.table({
            'number': numbers, 'nullable': pa.array(numbers, mask=numbers < 0.5),
            'bit': pa.array(numbers < 0.1), 'text': pa.array([f'{number:.4f}' for number in numbers]),
            'list': pa.ListArray.from_arrays(pa.array(ends), pa.array(random.random(2 * rows))),
            'small': pa.array((numbers * 100).astype('i1'))})
        with harness.scratch() as directory:
            path = directory / 'rows.lance'
            with lance.LanceFileWriter(str(path), table.schema) as writer:
                writer.write_batch(table)
            copy = output(harness.NTUPLE, 'cat', path, 'rows/table.arrow')
            found = pa.ipc.open_file(pa.py_buffer(copy)).read_all()
            found.validate(full=True)
            same(found.cast(table.schema).equals(table), True, f'{rows} rows')
            if len(copy) > 1.1 * found.nbytes + 8192:
                raise AssertionError(f'{len(copy)} bytes for buffers of {found.nbytes} bytes')
            with mounted(path) as top, open(top / 'rows/table.arrow', 'rb', buffering=0) as file:
                for offset in random.integers(0, len(copy), 50):
                    same(os.pread(file.fileno(), 70_000, offset), copy[offset:offset + 70_000],
                         f'{rows} rows: bytes at {offset}')


@case
def a_large_buffer_shares_no_memory_page():
    pa = need('pyarrow')
    with harness.scratch() as directory:
        write_flat(directory / 'flat.root', 20, 110000)
        copy = pa.py_buffer(output(harness.NTUPLE, 'cat', directory / 'flat.root', 'flat/table.arrow'))
        table = pa.ipc.open_file(copy).read_all()
        starts = [column.chunk(0).buffers()[1].address - copy.address for column in table.columns]
        same({start % 4096 for start in starts}, {0}, 'places of the buffers in memory pages')
        if copy.size > 1.1 * table.nbytes:
            raise AssertionError(f'{copy.size} bytes for buffers of {table.nbytes} bytes')


@case
def the_first_rows_cost_a_page_of_each_column():
    """For a text that is too long to be generated for its size."""
    with harness.scratch() as directory:
        write_flat(directory / 'flat.root', 20, 100000)
        with mounted(directory / 'flat.root') as top:
            def head():
                text = harness.subprocess.run(['head', '-n', '5', top / 'flat/rows.jsonl'],
                                              capture_output=True).stdout
                same(text.count(b'\n'), 5, 'lines')
            pages = decoded(top, head)
            if pages > 25:
                raise AssertionError(f'{pages} pages for 5 rows of 20 columns')


if __name__ == '__main__':
    if len(sys.argv) > 1:
        sys.exit('usage: test_arrow.py (NTUPLE and NTUPLEFS name the programs, NTUPLE_TEST_DATA the files)')
    harness.run()
