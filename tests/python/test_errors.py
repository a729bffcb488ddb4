# SPDX-License-Identifier: MIT
"""Failures are exceptions with place and reason."""
import json
import shutil

import ntuple
import pytest


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match='nothing.root') as caught:
        ntuple.open(tmp_path / 'nothing.root')
    assert isinstance(caught.value, ntuple.SourceNotFoundError) and caught.value.errno == 2


def test_a_file_of_no_format(tmp_path):
    (tmp_path / 'text').write_text('hello\n')
    for source in (tmp_path / 'text', b'hello\n', b''):
        with pytest.raises(ntuple.FormatError):
            ntuple.open(source)
    with pytest.raises(ntuple.Error):
        ntuple.open(b'hello', format='parquet')


def test_what_is_neither_a_path_nor_bytes():
    for source in 5, None:
        with pytest.raises(TypeError,
                           match=f'expected a path or a bytes-like object, found {type(source).__name__}'):
            ntuple.open(source)
    with pytest.raises(TypeError):
        ntuple.open(['example.root', 5])


def test_a_version_that_is_not_there_is_reported_with_its_dataset(data):
    path = data / 'lance_datasets' / 'columns_2.1'
    for version in 99, 'nothing':
        with pytest.raises(ntuple.Error, match=f'{path}: .*version.*{version}'):
            ntuple.open(path, version=version)


def test_a_name_that_leads_nowhere_is_reported_with_its_place(events, example):
    with pytest.raises(KeyError, match=f"{example}: the dataset 'Events' has no field 'nothing'"):
        events['nothing']
    with pytest.raises(KeyError, match=f"{example}: has no dataset 'nothing'"):
        events.file['nothing']


@pytest.mark.parametrize('path, advice', [
    ('vertex', ": find the dataset Events, then its field vertex"),
    ('muons/pt', ": find the dataset Events, then its field muons/_0/pt"),
    ('Event', ': did you mean Events?'),
    ('events', ': did you mean Events?')])
def test_a_name_that_is_no_dataset_is_reported_with_what_was_meant(events, path, advice):
    with pytest.raises(KeyError) as caught:
        events.file[path]
    assert caught.value.args[0].endswith(f"has no dataset '{path}'{advice}")


def test_names_that_lead_nowhere(events):
    for use in (lambda: events['nothing'], lambda: events.field('muons/_0/mass'),
                lambda: events.arrays(['nothing']),
                lambda: events.file['nothing']):
        with pytest.raises(KeyError, match='nothing|mass') as caught:
            use()
        assert isinstance(caught.value, ntuple.NotFoundError) and caught.value.status == 'not found'


def test_a_damaged_page_says_its_place_and_fails_no_other(data):
    reported = json.loads((data / 'damaged_page.json').read_text())
    with ntuple.open(data / 'damaged_page.root') as file:
        dataset = file.only()
        failures = {}
        for field in dataset.fields:
            try:
                dataset.arrays([field.path])
            except ntuple.Error as error:
                failures[field.path] = error
            except TypeError:
                pass
        assert len(failures) == 1, (failures, reported)
        (path, error), = failures.items()
        assert isinstance(error, ntuple.ChecksumError) and isinstance(error, ntuple.CorruptError)
        assert error.offset and error.expected and error.found and error.expected in str(error)
        assert path in str(error) and 'page' in str(error)


def test_arrow_streams_say_the_page_that_failed(data):
    pyarrow = pytest.importorskip('pyarrow', reason='pyarrow is not installed')
    with ntuple.open(data / 'damaged_page.root') as file:
        with pytest.raises(OSError, match='page'):
            pyarrow.table(file.only())


def test_a_file_that_is_written_to_fails_reads(tmp_path, example):
    path = tmp_path / 'copy.root'
    shutil.copy(example, path)
    with ntuple.open(path) as file:
        dataset = file['Events']
        assert len(dataset['weight']) == 1000
        with path.open('ab') as end:
            end.write(b'more')
        with pytest.raises(ntuple.ChangedError) as caught:
            dataset['event']
        assert isinstance(caught.value, OSError)


def test_every_status_has_a_class():
    from ntuple import _errors
    for name in ('not found', 'not this format', 'unsupported', 'corrupt', 'checksum mismatch', 'truncated',
                 'source changed',
                 'input/output error', 'out of memory', 'over a limit', 'invalid argument'):
        error = _errors.make(name, 'a message', 7, 0, 'this', 'that')
        assert type(error) is not ntuple.Error and isinstance(error, ntuple.Error)
        assert (str(error), error.status, error.offset, error.expected) == ('a message', name, 7, 'this')
    assert _errors.make('of tomorrow', 'a message', -1, 0, '', '').offset is None


def test_versions_that_are_not_there(data):
    source = data / 'lance_datasets' / 'deletions_2.2'
    assert [ntuple.open(source, version=version).only().entries for version in (1, '2', None)] == [60, 100,
            80]
    for version, reported in (77, 'from 1 to 10'), ('none', 'tags: none'), ('../1', 'is a path'):
        with pytest.raises(ntuple.Error, match=reported):
            ntuple.open(source, version=version)
    with pytest.raises(ntuple.Error, match='has no versions'):
        ntuple.open(data / 'example.root', version=1)
    with pytest.raises(ValueError):
        ntuple.open(b'hello', version=1)
