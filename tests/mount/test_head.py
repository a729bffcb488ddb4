#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The first rows: as a table that fits, as JSON lines, of some columns. The values come from another
reader."""
import json
import os
import re

import numpy as np

from harness import DATA, NTUPLE, case, command, data, on_a_terminal, output, run, same

NANO = data('nano.root')
FIELDS = json.loads((DATA / 'nano.json').read_text())['datasets']['Events']['fields']
VALUES = {name: field['sample'] for name, field in FIELDS.items()}


def table(*arguments, columns=80):
    environment = {**os.environ, 'COLUMNS': str(columns)}
    lines = output(NTUPLE, 'head', '--table', *arguments, env=environment).decode().splitlines()
    assert all(len(line) <= columns for line in lines), lines
    return [line.split() for line in lines]


def rounded(values):
    return np.array(values, 'f4').tolist()


@case
def what_rows_omit_is_named_with_the_reason_once():
    source = data('trees/trees_pointers.root')
    for form in '--json', '--table':
        for arguments in ([source], [source, 'pointers/whole']):
            head = command(NTUPLE, 'head', '-n3', form, *arguments)
            named = [line for line in head.stderr.decode().splitlines()
                     if line.startswith('ntuple: whole/node/item/next/item: omitted: ')]
            same((head.returncode, len(named)), (0, 1), (form, arguments, head.stderr))
            assert 'contain objects of this class' in named[0], named


@case
def columns_are_members_of_json_lines():
    lines = [json.loads(line) for line in output(NTUPLE, 'head', '-n3', NANO,
                                                 '--columns=MET_pt,Muon_*').splitlines()]
    same([list(line) for line in lines], [['MET_pt', 'Muon_pt', 'Muon_eta', 'Muon_charge']] * 3)
    for entry, line in enumerate(lines):
        for name, values in line.items():
            same(rounded(values), rounded(VALUES[name][str(entry)]), name)
    line = json.loads(output(NTUPLE, 'head', '-n1', data('example.root'), '--columns=muons/p*,run'))
    same([list(line), list(line['muons'][0])], [['run', 'muons'], ['pt', 'phi']])


@case
def a_table_has_a_line_for_each_entry_if_that_fits():
    lines = table(NANO, '--columns=run,event,MET_pt')
    same(lines[0], ['entry', 'run', 'event', 'MET_pt'])
    same(len(lines), 6)
    for entry, line in enumerate(lines[1:3]):
        same(line[:3], [str(entry), str(VALUES['run'][str(entry)]), str(VALUES['event'][str(entry)])])
        same(rounded([float(line[3])]), rounded([VALUES['MET_pt'][str(entry)]]))
    same(table(NANO, 'run', 'event', 'MET_pt'), lines)
    same(table(NANO, '-n1', '--columns=Muon_pt')[1:], [['0', '[]']])


@case
def else_entries_stand_side_by_side():
    lines = table(NANO, '--columns=*')
    same(lines[0], ['entry', '0', '1', '2', '3', '4'])
    same(lines[1][:3], ['run', '362104', '362104'])
    wide = table(NANO, '--columns=Muon_*', columns=300)
    same(wide[0], ['entry', 'Muon_pt', 'Muon_eta', 'Muon_charge'])
    same(json.loads(wide[3][1]), VALUES['Muon_pt']['2'])
    narrow = table(NANO, '--columns=*', columns=40)
    same([line[1:] for line in narrow if line[:1] == ['entry']], [['0', '1'], ['2', '3'], ['4']])


@case
def collections_that_projected_fields_show_are_left_out():
    names = [line[0] for line in table(NANO)]
    same(names[:4], ['entry', 'run', 'event', 'MET_pt'])
    assert 'Muon_pt' in names and '_collection0' not in names, names


@case
def a_field_in_a_collection_is_a_list_for_each_entry():
    lines = table(data('example.root'), '-n2', '--columns=muons/pt', columns=200)
    same(lines, [['entry', 'muons/_0/pt'], ['0', '[60.13692]'], ['1', '[5.7824516,39.789223,132.07187]']])


@case
def a_record_is_its_members():
    lines = table(data('example.root'), '-n2', '--columns=run,vertex')
    same(lines[0], ['entry', 'run', 'vertex/x', 'vertex/y', 'vertex/z'])
    same(table(data('example.root'), '-n2', '--columns=run,vertex/x,vertex'), lines)
    vertex = json.loads(output(NTUPLE, 'head', '-n1', data('example.root'), '--columns=vertex'))['vertex']
    same([float(text) for text in lines[1][2:]], list(vertex.values()))
    classes = data('trees/trees_classes.root')
    same(table(classes, '-n1', '--columns=event/inner')[0],
         ['entry', 'event/inner/inner.x', 'event/inner/inner.y[3]', 'event/inner/inner.d'])
    null = table(data('lance_nested_2.1.lance'), '--columns=structure', columns=200)  # as its rows can be
    same(null[0], ['entry', 'structure'])


@case
def a_table_without_entries_fits_too():
    empty = data('trees/trees_structure.root')
    same(table(empty, 'no_entries')[0][:2], ['entry', 'i'])
    same([line[0] for line in table(empty, 'no_entries', columns=12)][:2], ['entry', 'i'])


@case
def names_are_whole_beside_entries_side_by_side():
    lines = table(data('trees/trees_classes.root'), '--columns=event/*', columns=60)
    same(lines[0], ['entry', '0', '1', '2'])
    assert 'event/matrix[2][3]' in [line[0] for line in lines if line], lines
    narrow = table(data('trees/trees_classes.root'), '--columns=event/*', columns=30)
    assert '…t/matrix[2][3]' in [line[0] for line in narrow if line], narrow  # its end is its own


@case
def a_terminal_gets_a_table_and_titles_and_directories_in_bold():
    for variables, is_bold in ({}, True), ({'NO_COLOR': '1'}, False), ({'TERM': 'dumb'}, False):
        for name in 'NO_COLOR', 'TERM', 'COLUMNS':
            os.environ.pop(name, None)
        os.environ.update(variables)
        text = on_a_terminal(NTUPLE, 'head', NANO, '--columns=run')
        assert b'362104' in text and b'{' not in text, text
        same(text.startswith(b'\x1b[1mentry'), is_bold, variables)
    for name in 'NO_COLOR', 'TERM':
        os.environ.pop(name, None)
    for name, is_directory in ('Events', True), ('file.json', False):
        for command_name in 'ls', 'tree':
            text = on_a_terminal(NTUPLE, command_name, NANO)
            same(f'\x1b[1m{name}\x1b[0m'.encode() in text, is_directory, text)
    assert b'\x1b' not in output(NTUPLE, 'ls', NANO)
    assert on_a_terminal(NTUPLE, 'head', '--json', NANO, '--columns=run').startswith(b'{"run":362104}')


@case
def the_table_of_inspect_fits_the_terminal_too():
    for columns, is_shown in ('72', []), ('80', ['PAGES']), ('100', ['COLUMN', 'PAGES', 'PACKED']):
        os.environ['COLUMNS'] = columns
        text = on_a_terminal(NTUPLE, 'inspect', NANO).decode()
        lines = re.sub(r'\x1b\[\d*m', '', text).split('\r\n\r\n')[-1].splitlines()
        assert len(lines) > 10 and max(map(len, lines)) <= int(columns), text
        same([title for title in ('COLUMN', 'PAGES', 'PACKED') if title in lines[0].split()], is_shown)
        assert '…' not in text and 'Muon_charge' in text, text
    os.environ['COLUMNS'] = '130'
    for source, has_encodings in ('trees/trees_baskets.root', True), ('lance_blobs_2.0.lance', False):
        titles = on_a_terminal(NTUPLE, 'inspect', data(source)).decode().split()
        same([title in titles for title in ('TYPE', 'ENCODING', 'BITS')], [True, has_encodings, True])


@case
def a_damaged_value_is_named_and_the_others_are_shown():
    result = command(NTUPLE, 'head', '--table', data('damaged_page.root'), '--columns=ramp,noise')
    same(result.returncode, 5)
    same([line.split() for line in result.stdout.decode().splitlines()][:3],
         [['entry', 'ramp', 'noise'], ['0', '0', '?'], ['1', '0', '?']])
    assert b'page 0 of cluster 0' in result.stderr, result.stderr


@case
def columns_that_do_not_exist_are_refused():
    result = command(NTUPLE, 'head', NANO, '--columns=MET_pt,Muon_ptt')
    same([result.returncode, result.stderr],
         [2, b'ntuple: Muon_ptt: no such file or field: did you mean Muon_pt?\n'])
    same(command(NTUPLE, 'head', NANO, '--columns=MET_pt,schema.txt').returncode, 1)
    result = command(NTUPLE, 'head', NANO, '--columns=,')
    same((result.returncode, b'--columns=, names no field' in result.stderr), (1, True), result.stderr)


@case
def other_formats_have_tables():
    same(table(data('trees/trees_baskets.root'), '-n2', '--columns=i,n'),
         [['entry', 'i', 'n'], ['0', '0', '0'], ['1', '3', '1']])
    lines = table(data('lance_packed_2.1.lance'), '-n2', '--columns=vectors')
    same(lines, [['entry', 'vectors'], ['0', '[0,0,3]'], ['1', '[1,null,3]']])


run(needs_fuse=False)
