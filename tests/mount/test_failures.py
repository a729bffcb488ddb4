# SPDX-License-Identifier: MIT
"""No failure is lost: any damage, read in any order and any number of times, is one line in
errors.jsonl and one in the log, which agree with `ntuple verify` and `ntuple cat`."""
import itertools
import json
import os
import shutil
import struct

from blz_writer import blz_array
from failures import TOLD, findings, read_everything
from harness import (IS_SANITIZED, NTUPLE, Foreground, case, cat_lines, command, data, errors_of, flip,
                     mounted, output, run, same, scratch)

WRITE_DAMAGED = os.environ.get('WRITE_DAMAGED', 'write_damaged')
# Are the files read in reverse order? With sanitizers, a failure has one of both orders.
ORDERS = itertools.cycle([(False,), (True,)] if IS_SANITIZED else [(False, True)])


def flipped(directory, name, **criteria):
    """A copy of a file, with a bit flipped in the first range of the layout that has the given
    members."""
    copy = directory / name
    for item in cat_lines(data(name), 'layout.jsonl'):
        if all(item.get(key) == value for key, value in criteria.items()):
            shutil.copy(data(name), copy)
            flip(copy, item['file_offset'] + item['stored_bytes'] // 2)
            return copy
    raise AssertionError(f'{name} has no {criteria}')


# ---- What is reported ----

def assert_cat_says_the_same(path, failed, error):
    """For the first file that fails; if a dataset cannot be opened, its error.json."""
    if failed:
        message = command(NTUPLE, 'cat', path, failed[0]).stderr.decode()
    elif '/' not in error['path'] and command(NTUPLE, 'ls', path).returncode:
        message = command(NTUPLE, 'cat', path, 'file.json').stderr.decode()  # nothing opens: no tree
    else:
        message = json.loads(output(NTUPLE, 'cat', path, f'{error["path"]}/error.json'))['what']
    assert error['what'] in message or error['found'] and error['found'] in message, (error, failed, message)


def assert_one_failure(path, *beside):
    """The line in errors.jsonl; `beside`: other sources of the mount."""
    found = findings(path)
    assert found, path
    reported = {tuple(finding[key] for key in TOLD) for finding in found}  # several columns may share a page
    for is_reversed in next(ORDERS):
        with Foreground(path, *beside) as mount:
            failed = read_everything(mount.mountpoint, is_reversed)
            errors, messages = errors_of(mount.mountpoint), mount.messages()
        same((len(errors), len(messages)), (1, 1), f'{path}: {errors} {messages}')
        same({tuple(errors[0][key] for key in TOLD)}, reported, errors[0])
        assert any(finding['what'].endswith(errors[0]['what']) for finding in found), (found, errors[0])
        assert errors[0]['what'].removeprefix(f'{path}: ') in messages[0] and f'{path}: ' in messages[
                0], messages
        assert not failed or errors[0]['count'] >= len(failed), errors[0]
        if beside:
            failed = [name.split('/', 1)[1] for name in failed]
        assert_cat_says_the_same(path, failed, errors[0])
    return errors[0]


# ---- RNTuple ----

@case
def envelopes_of_a_dataset_beside_a_good_one():
    for owner in 'anchor', 'header', 'footer':
        for path in 'Events', 'calibration/Constants':
            with scratch() as directory:
                error = assert_one_failure(flipped(directory, 'example.root', owner=owner, dataset=path))
                same((error['path'], error['count']), (path, 0), owner)


@case
def page_lists():
    for name, path in ('example.root', 'Events'), ('types.root', 'types'), ('example.root',
            'calibration/Constants'):
        with scratch() as directory:
            error = assert_one_failure(flipped(directory, name, owner='page list', dataset=path))
            same(error['path'], path)
            assert error['count'] > 10 and 'page list' in error['what'], error


@case
def pages_of_every_kind_of_column():
    fields = {'leaf': 'int32', 'index': 'vector_int32', 'items': 'vector_int32/_0', 'switch': 'variant',
              'characters': 'string',
              'bits': 'bool'}
    names = {item['field'] for item in cat_lines(data('types.root'), 'layout.jsonl')
             if item['owner'] == 'page'}
    for kind, field in fields.items():
        assert field in names, (kind, sorted(names))
        with scratch() as directory:
            error = assert_one_failure(flipped(directory, 'types.root', owner='page', field=field))
            assert '/column.' in error['path'], error


@case
def a_digest_after_a_page():
    with scratch() as directory:
        assert_one_failure(flipped(directory, 'types.root', owner='checksum', field='int32'))


@case
def records_of_key_lists():
    with scratch() as directory:
        error = assert_one_failure(flipped(directory, 'example.root', owner='key list', detail='TDirectory'))
        same(error['path'], 'calibration/Constants')


@case
def a_dataset_that_a_damaged_list_of_keys_hides():
    """The list is one failure; what it no longer refers to is another."""
    with scratch() as directory:
        copy = flipped(directory, 'example.root', owner='key list', detail='TFile')
        with mounted(copy) as top:
            read_everything(top, False)
            errors = errors_of(top)
        same([error['path'] for error in errors], ['damaged keys', 'Constants'], errors)
        same(sorted(error['what'] for error in errors), sorted(finding['what'] for finding in findings(copy)))


@case
def a_key_in_front_of_an_anchor():
    with scratch() as directory:
        assert_one_failure(flipped(directory, 'example.root', owner='key', detail='ROOT::RNTuple'))


@case
def contents_that_contradict_themselves_under_right_checksums():
    words = {'decreasing': 'decreases', 'beyond': 'expected 4, found 200',
             'tag': 'alternative 2 does not exist: the variant has 1',
             'index': 'row 77 of alternative 1'}
    with scratch() as directory:
        output(WRITE_DAMAGED, directory)
        for name, word in words.items():
            error = assert_one_failure(directory / f'{name}.root')
            same(error['path'], 'Events/bad/column.0')
            assert word in error['what'], error


# ---- the other formats ----

@case
def chunks_of_bloscpack_files():
    for name in 'blocks', 'blocks_with_digests':
        with scratch() as directory:
            copy = directory / f'{name}.blp'
            shutil.copy(data(copy.name), copy)
            page = json.loads(output(NTUPLE, 'cat', copy,
                                     f'{name}/values/column.0/pages.jsonl').splitlines()[1])
            flip(copy, page['file_offset'] + 16 + 3)  # the offset of the first block
            error = assert_one_failure(copy)
            same((error['path'], error['file_offset']), (f'{name}/values/column.0', page['file_offset']))


@case
def chunks_of_blz_directories():
    def spoil(path):
        flip(path, 16 + 4)  # the chunk's size

    for damage, word in (os.unlink, 'missing'), (spoil, 'expected 40, found 56'):
        with scratch() as directory:
            array = blz_array(directory / 'array')
            same(findings(array), [])
            damage(array / 'data/__1.blp')
            error = assert_one_failure(array)
            assert word in error['what'], error


@case
def two_missing_chunks_are_two_failures():
    with scratch() as directory:
        array = blz_array(directory / 'array')
        for number in 0, 2:
            (array / f'data/__{number}.blp').unlink()
        with mounted(array) as top:
            read_everything(top, False)
            errors = errors_of(top)
        same(len(errors), 2, errors)
        same(sorted(error['what'] for error in errors),
             sorted(finding['what'] for finding in findings(array)))


@case
def a_roaring_container_beside_a_good_file():
    with scratch() as directory:
        for name, values in ('good', (3, 7)), ('bad', (7, 3)):
            header = struct.pack('<IIHHI', 12346, 1, 0, len(values) - 1, 16)
            (directory / f'{name}.bin').write_bytes(header + struct.pack('<2H', *values))
        error = assert_one_failure(directory / 'bad.bin', directory / 'good.bin')
        same((error['path'], error['count']), ('bad.bin', 0))
        assert 'ascending' in error['what'], error


# ---- a source that changes ----

@case
def a_source_that_is_cut_is_one_failure():
    with scratch() as directory:
        copy = directory / 'copy.root'
        shutil.copy(data('example.root'), copy)
        with Foreground(copy) as mount:
            os.listdir(mount.mountpoint / 'Events')
            os.truncate(copy, 30000)
            failed = read_everything(mount.mountpoint, False)
            errors, messages = errors_of(mount.mountpoint), mount.messages()
        assert len(failed) > 100, failed
        same((len(errors), len(messages)), (1, 1), errors)
        assert '80578' in errors[0]['what'] and '30000' in errors[0]['what'], errors


run()
