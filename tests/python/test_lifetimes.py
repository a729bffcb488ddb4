# SPDX-License-Identifier: MIT
"""Files, fields and capsules end in any order, and several threads and forked processes use
them."""
import gc
import os
import subprocess
import sys
import threading
import weakref

import ntuple
import numpy as np
import pytest


def test_what_was_read_outlives_the_file(example):
    with ntuple.open(example) as file:
        values = file['Events']['weight']
        total = values.sum()
    del file
    gc.collect()
    assert values.sum() == total


def test_a_closed_file_says_so(example):
    file = ntuple.open(example)
    dataset = file['Events']
    field = dataset.field('weight')
    view = dataset.select(['weight'])
    field[:3], view.batches
    file.close()
    file.close()
    assert file.closed and 'closed' in repr(file)
    for use in (lambda: file['Events'], lambda: list(file), lambda: dataset['weight'], lambda: field[:3],
                lambda: field.rows,
                lambda: view.__arrow_c_stream__(), lambda: dataset.schema, file.layout, dataset.layout,
                lambda: dataset.arrays(['weight'])):
        with pytest.raises(ValueError, match='closed'):
            use()


def test_capsules_keep_their_file(example):
    pyarrow = pytest.importorskip('pyarrow', reason='pyarrow is not installed')
    file = ntuple.open(example)
    expected = file['Events']['weight']
    stream = pyarrow.RecordBatchReader.from_stream(file['Events'].select(['weight']))
    first = stream.read_next_batch()
    file.close()
    del file
    gc.collect()
    rest = pyarrow.Table.from_batches([first, *stream])
    assert np.array_equal(rest.column('weight').to_numpy(), expected)


def test_unused_capsules_are_released(example):
    file = ntuple.open(example)
    view = file['Events'].select()
    capsules = [view.__arrow_c_stream__(), view.__arrow_c_schema__(), view.__arrow_c_stream__()]
    file.close()
    del view, file
    gc.collect()
    capsules.reverse()
    del capsules
    gc.collect()


def test_the_descriptor_is_closed_with_the_last_user(example):
    def descriptors():
        found = []
        for name in os.listdir('/proc/self/fd'):
            try:
                found.append(os.readlink(f'/proc/self/fd/{name}'))
            except OSError:
                pass
        return found.count(str(example.resolve()))

    before = descriptors()
    file = ntuple.open(example)
    field = file['Events'].field('weight')
    field[:]
    assert descriptors() == before + 1
    file.close()
    del field
    gc.collect()
    assert descriptors() == before


def test_files_close_without_the_garbage_collector(data, example):
    pyarrow = pytest.importorskip('pyarrow', reason='pyarrow is not installed')
    before = len(os.listdir('/proc/self/fd'))
    gc.disable()
    try:
        for _ in range(5):
            dataset = ntuple.open(example)['Events']
            assert len(dataset['weight']) == len(dataset.arrays(['run'])['run']) == 1000
            assert dataset.schema and dataset.match('muons/*') and dataset.select('run').scan().schema
            assert pyarrow.table(dataset).num_rows == sum(map(len, dataset.partitions())) == 1000
            chain = ntuple.chain([data / 'compression_lz4.root', data / 'compression_none.root']).only()
            assert pyarrow.table(chain.select('ramp')).num_rows == chain.entries
        del dataset, chain
        assert len(os.listdir('/proc/self/fd')) <= before + 2   # of files that partitions keep open
    finally:
        gc.enable()


def test_memory_is_kept_while_it_is_read(example):
    class Holder(bytearray):
        """Bytes with a weak reference."""

    memory = Holder(example.read_bytes())
    seen = weakref.ref(memory)
    file = ntuple.open(memory)
    del memory
    gc.collect()
    assert seen() is not None
    field = file['Events'].field('weight')
    assert len(field[:]) == 1000
    file.close()
    del file, field
    gc.collect()
    assert seen() is None


def test_threads_share_a_file(example):
    file = ntuple.open(example)
    dataset = file['Events']
    paths = ['weight', 'event', 'muons/_0/pt', 'trigger_bits', 'vertex/x', 'jet_tracks/_0/_0']
    expected = {path: dataset[path] for path in paths}
    failures = []

    def work(number):
        try:
            for i in range(40):
                path = paths[(number + i) % len(paths)]
                field = dataset.field(path)
                first = (i * 37) % len(field)
                assert np.array_equal(field[first:], expected[path][first:])
                dataset.select([path], (i, i + 500)).__arrow_c_stream__()
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_a_file_may_be_closed_while_others_read_it(example):
    failures = []

    def work(dataset):
        try:
            while True:
                assert len(dataset['weight']) == 1000
        except ValueError as error:
            assert 'closed' in str(error)
        except Exception as error:
            failures.append(error)

    for _ in range(10):
        file = ntuple.open(example)
        threads = [threading.Thread(target=work, args=(file['Events'],)) for _ in range(4)]
        for thread in threads:
            thread.start()
        file.close()
        del file
        for thread in threads:
            thread.join()
    assert not failures


def test_the_interpreter_continues_while_a_column_is_decoded(tmp_path, example):
    """Only another thread reads from the pipe: a thread that keeps the lock while it waits would
    wait forever."""
    seen = []

    def count():
        while not stop.is_set():
            seen.append(None)

    stop = threading.Event()
    thread = threading.Thread(target=count)
    with ntuple.open(example) as file:
        dataset = file['Events']
        thread.start()
        for _ in range(50):
            dataset.arrays(['weight', 'event', 'muons/_0/pt'])
        stop.set()
    thread.join()
    assert seen


FORKED = '''
import os, sys
import ntuple
file = ntuple.open(sys.argv[1])
dataset = file["Events"]
field, view = dataset.field("weight"), dataset.select(["weight"])
expected = field[:].tolist()
stream = view.__arrow_c_stream__()
for reader in range(2):
    process = os.fork()
    if process == 0:
        same = field[:].tolist() == dataset["weight"].tolist() == expected and view.batches == 4
        same = same and len(dataset.arrays(["muons/_0/pt", "run"])["run"]) == 1000
        view.__arrow_c_stream__()
        del stream, field, view
        file.close()
        sys.exit(0 if same else 1)
    assert os.waitpid(process, 0)[1] == 0
assert field[:].tolist() == expected
'''


def test_forked_processes_read_what_their_parent_opened(example):
    subprocess.run([sys.executable, '-c', FORKED, str(example)], check=True, timeout=60)


def test_what_is_open_at_the_end_of_a_program_does_no_harm(example):
    program = ('import sys, ntuple; file = ntuple.open(sys.argv[1]); dataset = file["Events"]; field = '
               'dataset.field("weight");'
               'values = field[:]; stream = dataset.__arrow_c_stream__()')
    result = subprocess.run([sys.executable, '-X', 'dev', '-c', program, str(example)], capture_output=True,
                            timeout=60)
    assert result.returncode == 0 and not result.stderr


def test_handles_are_checked():
    from ntuple import _ntuple
    reader = _ntuple.reader_new(0, 0)
    with pytest.raises(ValueError):
        _ntuple.file_dataset_count(reader)
    with pytest.raises(ValueError):
        _ntuple.streams_read([(reader, 0, 1, np.empty(1))])


def test_arrays_are_checked(events):
    from ntuple import _ntuple
    handle = events._handle
    stream = _ntuple.stream_open(handle, events._number, events._find('weight'), 'data')
    room = np.empty(10)
    for array in (np.empty(20)[::2], np.frombuffer(bytes(80)), [0.0] * 10):
        with pytest.raises((TypeError, AttributeError)):
            _ntuple.streams_read([(stream, 0, 10, array)])
    with pytest.raises(ValueError, match='smaller than'):
        _ntuple.streams_read([(stream, 0, 11, room)])
    with pytest.raises(ntuple.ArgumentError):
        _ntuple.streams_read([(stream, 2**63, 10, room)])
    _ntuple.streams_read([(stream, 990, 10, room)])
    assert np.array_equal(room, events['weight'][990:])
