#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the test files, each with its expected values.

usage: make_data.py [NAME...]        (default: all)

ROOT (or uproot) writes X.root, by the functions in write_*.cxx. X.json has the values from
ROOT's own reader, field by field. Fields that uproot can read must agree, or nothing is written.
Both must be installed: pip install root uproot. The output is reproducible, except times and
identifiers that ROOT puts into the container.
"""
import hashlib
import json
import math
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
LONG = 100  # datasets with more entries keep some values, and digests of the others

# file -> (source, function with its further arguments)
ROOT_FILES = {
    'example': ('write_example.cxx', 'write_example'),
    'types': ('write_types.cxx', 'write_types'),
    'encodings': ('write_encodings.cxx', 'write_encodings'),
    'compression_none': ('write_structures.cxx', 'write_compression', 0),
    'compression_zlib': ('write_structures.cxx', 'write_compression', 101),
    'compression_lzma': ('write_structures.cxx', 'write_compression', 207),
    'compression_lz4': ('write_structures.cxx', 'write_compression', 404),
    'compression_zstd': ('write_structures.cxx', 'write_compression', 505),
    'late_fields': ('write_structures.cxx', 'write_late_fields'),
    'merged': ('write_structures.cxx', 'write_merged'),
    'multi_representation': ('write_structures.cxx', 'write_multi_representation'),
    'names': ('write_structures.cxx', 'write_names'),
    'empty': ('write_structures.cxx', 'write_empty'),
    'dirs_and_cycles': ('write_structures.cxx', 'write_dirs_and_cycles'),
    'projected': ('write_structures.cxx', 'write_projected'),
    'without_checksums': ('write_structures.cxx', 'write_without_checksums'),
    'split_keys': ('write_structures.cxx', 'write_split_keys'),
    'many_pages': ('write_structures.cxx', 'write_many_pages'),
    'attributes': ('write_structures.cxx', 'write_attributes'),
    'nano': ('write_nano.cxx', 'write_nano'),
}

# written by uproot, read by ROOT
READ_BY_ROOT = {
    'directories_by_uproot': ('write_structures.cxx', 'read_directories_by_uproot'),
}

# Fields, by words of their paths, that uproot 5.7 reads differently: its own bugs, and another
# notion of a pointer.
UPROOT_DIFFERS = {
    'variant': 'starts each cluster at the alternatives\' first values',
    'comment': 'the same, it is a variant',
    'representations/': 'joins the representations',
    'unique_ptr': 'gives lists of none or one item',
    'split/': 'takes a payload for one piece',
    'double_Real32Quant': 'rounds what is quantized to 32 bits',
    'charge_fraction': 'the same',
    'merged/': 'puts the zeros of a cluster after its elements',
}


def with_root(name):
    """Write X.root with ROOT, or only read it; returns the datasets from ROOT's reader."""
    source, function, *arguments = {**ROOT_FILES, **READ_BY_ROOT}[name]
    warnings.simplefilter('ignore')
    import ROOT
    ROOT.gInterpreter.AddIncludePath(str(HERE))
    if not ROOT.gInterpreter.Declare(f'#include "{source}"'):
        sys.exit(f'{source} does not compile')
    text = getattr(ROOT, function)(str(HERE / f'{name}.root'), *arguments)
    return 'ROOT ' + str(ROOT.gROOT.GetVersion()), json.loads(str(text))


def names_by_uproot():
    """Names that ROOT refuses to write, but uproot writes."""
    import uproot
    names = ['a/b', '..', '.', 'a.b', '/abs', 'tab\there', 'new\nline', ' ', 'field.json', '%2F', '']
    columns = {name: np.arange(4, dtype='i4') * (k + 1) for k, name in enumerate(names)}
    with uproot.recreate(HERE / 'names_by_uproot.root') as file:
        file.mkrntuple('with space', columns)
        file.mkrntuple('.hidden', {'x': np.arange(3.)})
        file.mkrntuple('file.json', {'x': np.arange(2.)})
    return f'uproot {uproot.__version__}', {
        'with space': {'entries': 4, 'fields': {name: column.tolist() for name, column in columns.items()}},
        '.hidden': {'entries': 3, 'fields': {'x': [0., 1., 2.]}},
        'file.json': {'entries': 2, 'fields': {'x': [0., 1.]}}}


def directories_by_uproot():
    """Nested directories, one that outgrows its first list of keys, an empty one."""
    import uproot
    with uproot.recreate(HERE / 'directories_by_uproot.root') as file:
        file.mkrntuple('top', {'x': np.arange(10)})
        file.mkdir('a').mkrntuple('one', {'x': np.arange(5)})
        file.mkdir('a/b').mkrntuple('two', {'x': np.arange(7)})
        file.mkdir('a/b/c').mkrntuple('three', {'x': np.arange(3)})
        many = file.mkdir('many')
        for k in range(6):
            many.mkrntuple(f'a_data_set_with_a_long_name_number_{k}', {'x': np.arange(k + 1)})
        file.mkdir('empty')
    _, datasets = with_root('directories_by_uproot')
    return f'uproot {uproot.__version__}', datasets


BY_UPROOT = {'names_by_uproot': names_by_uproot, 'directories_by_uproot': directories_by_uproot}


def damaged_page():
    """compression_zstd.root with one bit flipped in the middle of the first page of `noise`."""
    import uproot
    with uproot.open(HERE / 'compression_zstd.root') as file:
        ntuple = file['compressed']
        number = ntuple.field_names.index('noise')
        column = next(k for k, c in enumerate(ntuple.header.column_records) if c.field_id == number)
        page = ntuple.page_link_list[0][column].pages[0].locator
    content = bytearray((HERE / 'compression_zstd.root').read_bytes())
    content[page.offset + page.num_bytes // 2] ^= 0x10
    (HERE / 'damaged_page.root').write_bytes(content)
    expected = json.loads((HERE / 'compression_zstd.json').read_text())
    fields = expected['datasets']['compressed']['fields']
    fields['noise']['damaged'] = {'offset': page.offset, 'bytes': page.num_bytes, 'rows': [0, 150]}
    return expected


def plain(value):
    """Readers name records, pairs and lists differently: keep only the values."""
    if isinstance(value, dict):  # uproot puts base classes after the class's own members, last one first
        own = [plain(item) for name, item in value.items() if not name.startswith(':_')]
        bases = [base for name, base in value.items() if name.startswith(':_')]
        return own + [item for base in reversed(bases) for item in plain(base)]
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, float) and math.isnan(value):
        return 'NaN'
    return value


def read_with_uproot(file, path, field):
    return file[path].arrays(filter_name=lambda name: name == field
                             or name.startswith(field + '.'))[field].to_list()


def confirmed_by_uproot(name, datasets):
    """The fields that uproot can read, by path; exits if a value differs without a known reason."""
    import uproot
    confirmed = {}
    with uproot.open(HERE / f'{name}.root') as file:
        for path, dataset in datasets.items():
            for field, values in dataset['fields'].items():
                try:
                    theirs = plain(read_with_uproot(file, path, field))
                except Exception as error:  # readers raise anything for what they cannot read
                    print(f'{name}: uproot does not read {path}/{field}: {type(error).__name__}: '
                          f'{str(error)[:60]!r}')
                    continue
                if theirs == plain(values):
                    confirmed.setdefault(path, []).append(field)
                elif not any(word in f'{path}/{field}' for word in UPROOT_DIFFERS):
                    at = next(k for k, (a, b) in enumerate(zip(theirs, plain(values))) if a != b)
                    sys.exit(f'{name}: {path}/{field}[{at}]: uproot reads {theirs[at]}, ROOT {values[at]}')
    return confirmed


def digest(values):
    """One line of JSON text for each value of a field."""
    lines = ''.join(json.dumps(value, ensure_ascii=False) + '\n' for value in values)
    return hashlib.sha256(lines.encode()).hexdigest()


def shortened(values):
    if len(values) <= LONG:
        return {'values': values}
    chosen = sorted({0, 1, 2, len(values) // 2, len(values) - 1, *range(0, len(values), 97)})
    return {'sample': {str(k): values[k] for k in chosen}, 'sha256': digest(values)}


def write_expected(name, writer, datasets):
    confirmed = confirmed_by_uproot(name, datasets)
    document = {'writer': writer, 'datasets': {}}
    for path, dataset in datasets.items():
        document['datasets'][path] = {
            'entries': dataset['entries'],
            'confirmed_by_uproot': confirmed.get(path, []),
            'fields': {field: shortened(values) for field, values in dataset['fields'].items()}}
    save(name, document)


def save(name, document):
    """Indented, except the values: a line for each field."""
    lines = ['{', f' "writer": {json.dumps(document["writer"])},', ' "datasets": {']
    for path, dataset in document['datasets'].items():
        fields = [f'    {compact(field)}: {compact(values)}' for field, values in dataset['fields'].items()]
        lines += [f'  {compact(path)}: {{', f'   "entries": {dataset["entries"]},',
                  f'   "confirmed_by_uproot": {compact(dataset["confirmed_by_uproot"])},', '   "fields": {',
                  ',\n'.join(fields), '   }', '  },']
    lines[-1] = '  }'
    text = '\n'.join(line for line in [*lines, ' }', '}'] if line)
    json.loads(text)
    (HERE / f'{name}.json').write_text(text + '\n')


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(', ', ': '))


def make(name):
    if name == 'damaged_page':
        save(name, damaged_page())
    elif name in BY_UPROOT:
        write_expected(name, *BY_UPROOT[name]())
    else:
        write_expected(name, *with_root(name))


def main(names):
    known = [*ROOT_FILES, *BY_UPROOT, 'damaged_page']
    if unknown := set(names) - set(known):
        sys.exit(f'no such file: {", ".join(unknown)}; there are {", ".join(known)}')
    if len(names) == 1:
        make(names[0])
        return
    for name in names or known:  # one process each, because ROOT's interpreter cannot unload everything
        subprocess.run([sys.executable, __file__, name], check=True)


if __name__ == '__main__':
    main(sys.argv[1:])
