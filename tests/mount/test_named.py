#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names on the command line: patterns, the dataset left out, and what is said of a name that means
nothing."""
import json
import shutil
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'support'))
from shared_name import write_shared_name  # noqa: E402
from harness import NTUPLE, NTUPLEFS, case, command, data, need, output, run, same, scratch

NANO, EXAMPLE = data('nano.root'), data('example.root')


def reported(*arguments, status=2):
    """What a command says that fails."""
    result = command(NTUPLE, *arguments)
    same(result.returncode, status, f'{arguments}: {result.stderr}')
    return result.stderr.decode().removeprefix('ntuple: ').rstrip('\n')


@case
def a_pattern_names_fields_wherever_one_is_named():
    expected = output(NTUPLE, 'cat', NANO, 'Events/Muon_pt/_0/data.bin') + output(NTUPLE, 'cat', NANO,
            'Events/Muon_eta/_0/data.bin')
    same(output(NTUPLE, 'cat', NANO, 'Muon_[pe]t*/_0/data.bin'), expected)
    lines = output(NTUPLE, 'schema', NANO, 'Muon_*').decode().splitlines()
    same([line.split()[0] for line in lines], ['Events:', 'Muon_pt', 'Muon_eta', 'Muon_charge'])
    fields = json.loads(output(NTUPLE, 'schema', '--json', NANO, '*Jet*'))['datasets'][0]['fields']
    same([field['name'] for field in fields], ['Jet_pt', 'Jet_mass', 'nJet'])
    same(output(NTUPLE, 'ls', '--fields', NANO, 'Muon_*').decode().split(),
         ['Events/Muon_pt:', '_0', 'Events/Muon_eta:', '_0', 'Events/Muon_charge:', '_0'])
    same(output(NTUPLE, 'head', '-n1', EXAMPLE, 'muons/_0/p*'), b'60.13692\n2.9548588\n')


@case
def a_tree_beside_a_directory_of_its_name_has_one_name_everywhere():
    need('uproot')
    with scratch() as directory:
        path = directory / 'shared.root'
        write_shared_name(path)
        datasets = json.loads(output(NTUPLE, 'cat', path, 'file.json'))['datasets']
        same([item['path'] for item in datasets], ['run~2', 'run/ev'])
        assert reported('head', path, status=1).endswith(': 2 datasets here; name one: run~2, run/ev')
        same(output(NTUPLE, 'head', path, 'run~2'), b'{"x":7}\n')
        same(output(NTUPLE, 'head', path, 'run/ev'), b'{"y":8}\n')
        for command_name in 'schema', 'describe':
            shown = output(NTUPLE, command_name, path).decode().splitlines()
            same([line.split(':')[0] for line in shown if ': 1 entries' in line], ['run~2', 'run/ev'])
        whole = directory / 'whole.csv'
        output(NTUPLE, 'export', '--entries=run~2:0:1', path, 'run~2', whole)
        same(whole.read_text().split(), ['x', '7'])
        same(output(NTUPLE, 'diff', '-q', path, path, 'run~2').count(b'same'), 3)
        shutil.copy(path, directory / 'again.root')
        lines = output(NTUPLE, 'head', '--chain', directory / '*.root', 'run~2')
        same(lines, b'{"x":7}\n' * 2)


@case
def the_dataset_and_the_items_of_collections_may_be_left_out():
    whole = output(NTUPLE, 'head', '-n3', NANO, 'Events/MET_pt')
    same(output(NTUPLE, 'head', '-n3', NANO, 'MET_pt'), whole)
    same(output(NTUPLE, 'cat', '--rows=0:3', NANO, 'MET_pt'), whole)
    same(output(NTUPLE, 'cat', NANO, 'MET_pt/data.bin'),
         output(NTUPLE, 'cat', NANO, 'Events/MET_pt/data.bin'))
    same(output(NTUPLE, 'cat', NANO, 'schema.txt'), output(NTUPLE, 'cat', NANO, 'Events/schema.txt'))
    same(output(NTUPLE, 'head', EXAMPLE, 'muons/pt'), output(NTUPLE, 'head', EXAMPLE, 'Events/muons/_0/pt'))
    same(output(NTUPLE, 'diff', '--values', NANO, NANO, 'MET_pt').count(b'values same'), 1)


@case
def an_older_cycle_is_no_second_dataset():
    uproot = need('uproot')
    with scratch() as directory:
        path, table = directory / 'cycles.root', directory / 'table.csv'
        with uproot.recreate(path) as file:
            for length in 2, 3:
                file.mktree('tree', {'x': 'int32'})
                file['tree'].extend({'x': np.arange(length, dtype='int32')})
        same(output(NTUPLE, 'ls', path).split()[-2:], [b'tree;1', b'tree'])
        same(output(NTUPLE, 'head', path), b'{"x":0}\n{"x":1}\n{"x":2}\n')
        same(output(NTUPLE, 'head', '--table', path).split()[::2], [b'entry', b'0', b'1', b'2'])
        output(NTUPLE, 'export', path, table)
        same(table.read_text().split(), ['x', '0', '1', '2'])
    mixed = data('trees/mixed.root')  # the newest comes first
    same(output(NTUPLE, 'head', mixed), output(NTUPLE, 'head', mixed, 'Events'))
    same(reported('head', data('trees/trees_structure.root'), status=1).partition('name one: ')[2],
         'cycles, no_entries, no_branches, clusters, kept, inner/other, inner/deep/floats, '
         'inner/deep/doubles')


@case
def fields_are_listed_alone():
    names = output(NTUPLE, 'ls', '--fields', NANO).decode().split()
    same(names[:4] + names[-1:], ['run', 'event', 'MET_pt', '_collection0', 'nMuon'])
    same(output(NTUPLE, 'ls', '--fields', EXAMPLE), b'calibration\nEvents\n')
    lines = output(NTUPLE, 'tree', '--fields', NANO).decode().splitlines()
    same([line[4:].rstrip('/') for line in lines if line.startswith(('├── ', '└── '))], names)
    assert not [line for line in lines if '.' in line.split('── ')[-1] and '──' in line], lines


@case
def a_name_without_meaning_gets_a_similar_one():
    same(reported('schema', NANO, 'Muon_ptt'), 'Muon_ptt: no such file or field: did you mean Muon_pt?')
    same(reported('schema', NANO, 'Events/muon_pt'),
         'Events/muon_pt: no such file or field: did you mean Events/Muon_pt?')
    same(reported('ls', NANO, 'events'), 'events: no such file or field: did you mean Events?')
    same(reported('head', NANO, 'Muon'),
         "Muon: no such file or field: did you mean nMuon, or '*Muon*' (4 fields)?")
    same(reported('head', NANO, 'Electron_*'), 'Electron_*: no such file or field; the dataset is Events')
    same(reported('head', NANO, 'muon_*'), 'muon_*: no such file or field: did you mean Muon_pt?')
    assert 'did you mean' in reported('diff', NANO, NANO, 'MET_p')


@case
def a_pattern_of_files_that_the_shell_expanded_is_told_of_chains():
    with scratch() as directory:
        for name in 'run0.root', 'run1.root':
            shutil.copy(data('compression_lz4.root'), directory / name)
        expanded = command(NTUPLE, 'head', 'run0.root', 'run1.root', 'compressed/ramp', cwd=directory)
        same((expanded.returncode, expanded.stderr.decode()), (2,
             'ntuple: run1.root: a file, not a path in the first file: to read several files as one, '
             'give --chain and a quoted pattern\n'))
        same(command(NTUPLE, 'head', '--chain', 'run*.root', 'ramp', cwd=directory).returncode, 0)
        quoted = command(NTUPLE, 'head', 'run*.root', 'ramp', cwd=directory)
        same((quoted.returncode, quoted.stderr.decode()), (2,
             'ntuple: run*.root: no such file; the option chain reads the files of a pattern as one\n'))
        (directory / 'list.txt').write_text('run0.root\nrun[9].root\n')  # is a chain, so needs no advice
        listed = command(NTUPLE, 'head', '--chain', 'list.txt', 'ramp', cwd=directory)
        assert listed.returncode == 2 and b'option chain' not in listed.stderr, listed
        quoted = command(NTUPLEFS, 'run*.root', 'mnt', cwd=directory)
        same((quoted.returncode, quoted.stderr.decode()), (2,
             'ntuplefs: run*.root: no such file; the option chain reads the files of a pattern as one\n'))


@case
def a_chain_with_unusable_files_says_how_many():
    with scratch() as directory:
        shutil.copy(data('compression_lz4.root'), directory / 'run0.root')
        for name in 'run1.root', 'run2.root':
            (directory / name).write_text('no columns')
        reason = (f'{directory}/run*.root: 2 of 3 files cannot be used; the first: {directory}/run1.root: '
                  'a text file, which is not a supported format '
                  '(formats: rntuple, ttree, blz, lance, roaring); '
                  'the option missing=skip accepts more files')
        same(reported('head', '--chain', f'{directory}/run*.root', 'ramp', status=3), reason)


@case
def a_collection_says_what_is_in_it():
    same(reported('cat', NANO, 'Events/Muon_pt', status=1),
         'Events/Muon_pt: a collection: values are in _0/data.bin; offsets are in offsets.bin')
    same(reported('cat', NANO, 'Muon_pt/data.bin'),
         'Muon_pt/data.bin: no such file or field: Events/Muon_pt is a collection: '
         'values are in _0/data.bin; offsets are in offsets.bin')


@case
def other_formats_have_patterns_too():
    tree = data('trees/trees_baskets.root')
    same(output(NTUPLE, 'head', '-n2', tree, '[in]'), b'0\n3\n0\n1\n')
    classes = data('trees/trees_classes.root')
    for name in 'dotted.kind', 'dotted./dotted.kind':  # a branch as users of ROOT name it
        same(output(NTUPLE, 'cat', classes, f'{name}/data.bin'),
             output(NTUPLE, 'cat', classes, 'classes/dotted%2E/dotted%2Ekind/data.bin'))
    same(reported('head', classes, 'dotted.kinds'),
         'dotted.kinds: no such file or field: did you mean dotted./dotted.kind?')
    same(reported('head', classes, 'id'), "id: no such file or field: did you mean event/Base/id, or "
                                         "'**/id' (3 fields)?")
    lines = output(NTUPLE, 'schema', data('lance_packed_2.1.lance'), 'vec*').decode().splitlines()
    same([line.split()[0] for line in lines[1:]], ['vectors'])


def write_events(path, is_tree):
    """Events as NanoAOD has them, as a TTree or an RNTuple."""
    uproot, awkward = need('uproot'), need('awkward')
    counts = np.arange(50) % 4
    muons = awkward.zip({'pt': awkward.unflatten(np.arange(counts.sum(), dtype='f4') / 8, counts),
                         'charge': awkward.unflatten(1 - 2 * (np.arange(counts.sum()) % 2), counts)})
    with uproot.recreate(path) as file:
        if is_tree:
            file.mktree('Events', {'run': 'uint32', 'Muon': muons.type.content},
                        counter_name=lambda name: f'n{name}')
            file['Events'].extend({'run': np.full(50, 3, 'u4'), 'Muon': muons})
        else:
            file.mkrntuple('Events', {'run': np.full(50, 3, 'u4'), 'nMuon': counts.astype('i4'),
                                      'Muon_pt': muons.pt, 'Muon_charge': muons.charge})
    return muons


@case
def a_tree_of_nanoaod_is_looked_into_like_an_rntuple():
    with scratch() as directory:
        tree, rntuple = directory / 'tree.root', directory / 'rntuple.root'
        muons = write_events(tree, True)
        write_events(rntuple, False)
        lines = output(NTUPLE, 'head', '-n50', tree, '--columns=Muon_*').splitlines()
        same([json.loads(line) for line in lines],
             [{'Muon_pt': pt, 'Muon_charge': charge}
              for pt, charge in zip(muons.pt.to_list(), muons.charge.to_list())])
        same(reported('head', tree, 'muon_pt'), 'muon_pt: no such file or field: did you mean Muon_pt?')
        inspected_tree = json.loads(output(NTUPLE, 'inspect', '--json', '--group=prefix', tree))
        groups = inspected_tree['datasets'][0]['groups']
        same({group['name']: group['columns'] for group in groups}, {'Muon_*': 2, 'nMuon': 1, 'run': 1})
        field, = json.loads(output(NTUPLE, 'describe', '--json', tree, 'Muon_pt'))['datasets'][0]['fields']
        same([field['values'], field['minimum'], field['maximum']], [73, 0.0, 9.0])
        same(output(NTUPLE, 'diff', '--values', tree, rntuple).split()[-2:], [b'values', b'same'])


# The stored bytes of each branch, by uproot.
STORED = {'run': 35, 'event': 239, 'MET_pt': 296, 'nJet': 33, 'Jet_pt': 355, 'Jet_mass': 93, 'nMuon': 34,
          'Muon_pt': 489,
          'Muon_eta': 764, 'Muon_charge': 47}


def inspected(*arguments):
    return json.loads(output(NTUPLE, 'inspect', '--json', NANO, *arguments))['datasets'][0]


@case
def columns_have_the_names_of_projected_fields():
    columns = inspected()['columns']
    same({column['shown_as']: column['stored_bytes'] for column in columns}, STORED)
    same([column['field'] for column in columns[3:5]], ['_collection0', '_collection0/_0/Jet_pt'])
    same([column['shown_as'] for column in inspected('Jet_pt')['columns']], ['nJet', 'Jet_pt'])
    lines = output(NTUPLE, 'schema', NANO).decode().splitlines()
    same([line.split()[0] for line in lines[4:7]], ['_collection0', '_collection1', 'Jet_pt'])
    assert lines[4].endswith('stores Jet_pt, Jet_mass, nJet'), lines
    for picture in 'layout.svg', 'Events/sizes.svg':
        text = output(NTUPLE, 'cat', NANO, picture).decode()
        assert 'Muon_eta' in text and '_collection' not in text


@case
def columns_are_joined_and_the_largest_come_first():
    groups = inspected('--group=prefix')['groups']
    same([(group['name'], group['columns']) for group in groups[:3]],
         [('Muon_*', 3), ('Jet_*', 2), ('MET_*', 1)])
    same([group['stored_bytes'] for group in groups[:2]], [489 + 764 + 47, 355 + 93])
    same({group['name']: group['stored_bytes'] for group in inspected('--group=field')['groups']}, STORED)
    same([group['name'] for group in inspected('--group=type')['groups']],
         ['SplitReal32', 'SplitUInt64', 'SplitIndex64', 'SplitInt32', 'SplitUInt32'])
    same([group['name'] for group in inspected('--group=field', '--sort=ratio')['groups']][0], 'nJet')


run(needs_fuse=False)
