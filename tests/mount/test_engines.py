#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""dask with its own processes, and DuckDB, over mounts: they find what uproot reads from the
files."""
import shutil
import sys

import numpy as np

from harness import case, data, lines, mounted, need, run, same, scratch

NAMES = ['lz4', 'lzma', 'none', 'zlib', 'zstd']
WORKERS = 2


def files_of(directory):
    """Files that all differ: each lacks the last entries of the ones before."""
    paths = [directory / f'compression_{name}.root' for name in NAMES]
    for path in paths:
        shutil.copy(data(path.name), path)
    return paths


def by_uproot(paths):
    uproot = need('uproot')
    return [uproot.open(path)['compressed'].arrays() for path in paths]


def histogram_of(values):
    return np.histogram(values, bins=7, range=(0, 100))[0]


def totals_of(rows):
    """By the remainder of `ramp`: entries, items, the maximum of `noise`."""
    awkward = need('awkward')
    third = rows['ramp'] % 3
    return [(int(k), int(awkward.sum(third == k)), int(awkward.sum(awkward.num(rows['values'])[third == k])),
             int(awkward.max(rows['noise'][third == k]))) for k in range(3)]


def histogram_of_part(directory, first, end):
    offsets = np.load(f'{directory}/values/offsets.npy', mmap_mode='r')
    return histogram_of(np.load(f'{directory}/values/_0/data.npy',
                                mmap_mode='r')[offsets[first]:offsets[end]])


def frame_of_cluster(table, number):
    import pyarrow
    with pyarrow.memory_map(table) as file:
        return pyarrow.ipc.open_file(file).get_batch(number).to_pandas()


def clusters_of(dataset):
    return [(line['first_entry'], line['first_entry'] + line['entries'])
            for line in lines(dataset / 'clusters.jsonl')]


@case
def processes_of_dask_read_the_clusters_of_a_chain_and_of_a_folder():
    distributed, frames, dask = need('distributed'), need('dask.dataframe'), need('dask')
    with scratch() as directory:
        paths = files_of(directory)
        expected = by_uproot(paths)
        flat = need('awkward').flatten(need('awkward').concatenate([rows['values'] for rows in expected]))
        with mounted(*paths, options=('-o', 'chain')) as chain, mounted(directory) as folder, \
                distributed.Client(n_workers=WORKERS, threads_per_worker=1, dashboard_address=':0') as client:
            whole = chain / 'compressed'
            parts = [(str(whole), *part) for part in clusters_of(whole)]
            parts_of_files = [(str(folder / path.name / 'compressed'), *part) for path in paths
                              for part in clusters_of(folder / path.name / 'compressed')]
            for found in (parts, parts_of_files):
                same(list(sum(client.gather(client.map(histogram_of_part, *zip(*found))))),
                     list(histogram_of(flat)))
            with dask.config.set({'dataframe.convert-string': False}):
                frame = frames.from_map(frame_of_cluster, [str(whole / 'table.arrow')] * len(parts),
                                        range(len(parts)))
            same(frame.npartitions, len(parts))
            same([int(n) for n in frame['noise'].compute()],
                 [n for rows in expected for n in rows['noise'].tolist()])
            same([list(v) for v in frame['values'].compute()],
                 [v for rows in expected for v in rows['values'].tolist()])


@case
def duckdb_reads_the_tables_of_a_chain_and_of_a_folder():
    duckdb, dataset, awkward = need('duckdb'), need('pyarrow.dataset'), need('awkward')
    query = ('select ramp % 3 as third, count(*), sum(len(values)), max(noise) from tables '
             'group by third order by third')
    with scratch() as directory:
        paths = files_of(directory)
        expected = totals_of(awkward.concatenate(by_uproot(paths)))
        with mounted(*paths, options=('-o', 'chain')) as chain, mounted(directory) as folder:
            for found in ([chain / 'compressed' / 'table.arrow'],
                          [folder / path.name / 'compressed' / 'table.arrow' for path in paths]):
                # DuckDB finds it by its name
                tables = dataset.dataset([str(path) for path in found], format='ipc')
                same(tables.count_rows(), sum(entries for _, entries, *_ in expected))
                same(duckdb.sql(query).fetchall(), expected)


if __name__ == '__main__':
    sys.exit(run())
