# SPDX-License-Identifier: MIT
"""RNTuples with what the newest specification allows, and what it reserves: it is read, or
skipped with a message."""
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'support'))
from json_rules import problems  # noqa: E402
from harness import NTUPLE, case, command, output, run, same, scratch

UNREAD = 10  # src/cli/cli.h
WRITE_NEWER = os.environ.get('WRITE_NEWER', 'write_newer')
Z = [1.5, 2.5]
V = [[{'x': 3.0}, {'x': 4.0}], []]


def written(directory, name):
    output(WRITE_NEWER, directory)
    return directory / f'{name}.root'


def document(file, path):
    value = json.loads(output(NTUPLE, 'cat', file, path))
    same(list(problems(value)), [], f'{file}: {path}')
    return value


def rows(file, path='T/rows.jsonl'):
    return [json.loads(line) for line in output(NTUPLE, 'cat', file, path).splitlines()]


def usual_rows():
    return [{'z': z, 'v': v} for z, v in zip(Z, V)]


@case
def nested_deferred_columns_are_read_and_named():
    with scratch() as directory:
        file = written(directory, 'nested_deferred')
        same(rows(file), usual_rows() + [{'z': 1.5, 'v': [{'x': 5.0}, {'x': 6.0}]}, {'z': 2.5, 'v': []}])
        same([row['x'] for row in rows(file, 'T/v/_0/rows.jsonl')], [3.0, 4.0, 5.0, 6.0])
        footer, header = document(file, 'T/footer.json'), document(file, 'T/header.json')
        same((footer['feature_flags'], footer['features']), ([1], ['nested deferred columns']))
        same((header['feature_flags'], header['features']), ([0], []))
        same(output(NTUPLE, 'verify', file).rstrip().endswith(b': ok'), True)


@case
def a_field_of_another_version_is_left_out_with_its_whole_top_level_field():
    with scratch() as directory:
        file = written(directory, 'field_version')
        same(rows(file), [{'z': z} for z in Z])
        for path, version in ('v', 0), ('v/_0', 0), ('v/_0/x', 7):
            field = document(file, f'T/{path}/field.json')
            same((field['kind'], field['field_version'], field['unreadable']),
                 ('unreadable', version, 'unknown field version 7 of field 3'), path)
        for path in 'T/v/offsets.bin', 'T/v/_0/x/data.bin':
            same(command(NTUPLE, 'cat', file, path).returncode, 2, path)
        same(output(NTUPLE, 'cat', file, 'T/z/data.bin'), b'\0\0\xc0\x3f\0\0\x20\x40')


@case
def an_unknown_role_leaves_out_its_sub_field_alone():
    with scratch() as directory:
        file = written(directory, 'role')
        same(rows(file), usual_rows())
        same(document(file, 'T/v/_0/y/field.json')['unreadable'], 'unknown structural role 9')


@case
def a_collection_says_that_it_is_a_structure_of_arrays():
    with scratch() as directory:
        for name, expected in ('structure_of_arrays', True), ('role', False):
            file = written(directory, name)
            same(document(file, 'T/v/field.json')['is_structure_of_arrays'], expected, name)
            same('is_structure_of_arrays' in document(file, 'T/z/field.json'), False, name)
            same(rows(file), usual_rows(), name)


@case
def attribute_sets_say_the_version_of_their_schema():
    with scratch() as directory:
        for name, version, is_known in ('attributes_1.5', (1, 5), True), ('attributes_2.0', (2, 0), False):
            file = written(directory, name)
            same(rows(file), usual_rows(), name)
            about = document(file, 'T/attribute.notes/ntuple.json')
            same((about['schema_version_major'], about['schema_version_minor']), version)
            same('schema_version_major' in document(file, 'T/ntuple.json'), False)
            for path in 'z', 'v', 'v/_0', 'v/_0/x':
                field = document(file, f'T/attribute.notes/{path}/field.json')
                reason = None if is_known else "version 2.0 of the attribute set's schema is not known"
                same(field.get('unreadable'), reason, f'{name}: {path}')
            same(command(NTUPLE, 'cat', file, 'T/attribute.notes/z/data.bin').returncode, 0 if is_known
                 else 2, name)
            result = command(NTUPLE, 'verify', file)
            same((result.returncode, result.stdout.rstrip().endswith(b': ok')), (0, True) if is_known
                 else (UNREAD, False), name)


@case
def parts_of_objects_are_shown_and_refused_by_name():
    with scratch() as directory:
        file = written(directory, 'part_of_object')
        page, other = document(file, 'T/pagelist.0.json')['clusters'][0]['columns'][0]['pages']
        same((page['locator'], page['locator_type'], page['stored_bytes'], page['location'] >> 32),
             ('Multi', 3, 4, 5))
        same(other['locator'], 'file')
        locator = f'Multi (type 3) 0x{page["location"]:016x}, 4 bytes'
        first, second = rows(file, 'T/z/column.0/pages.jsonl')
        same((first['locator'], 'locator' in second), (locator, False))
        for path in 'T/z/data.bin', 'T/z/column.0/pages/0.raw', 'T/rows.jsonl':
            result = command(NTUPLE, 'cat', file, path)
            same((result.returncode != 0, f'not stored in this file: {locator}'.encode() in result.stderr),
                 (True, True), path)
        same(rows(file, 'T/v/rows.jsonl'), V)


run(needs_fuse=False)
