# SPDX-License-Identifier: MIT
"""Many readers at once see the same bytes as one, with any number of threads and any cache size."""
import os
import random
import threading

import numpy as np

from harness import case, data, mounted, run, same

EXPECTED = {
    'Events/run/data.bin': (362104 + np.arange(1000) // 300).astype('<u4').tobytes(),
    'Events/event/data.bin': (10000000000 + 3 * np.arange(1000)).astype('<u8').tobytes(),
    'Events/is_simulated/data.bin': (np.arange(1000) % 3 == 0).tobytes(),
}


def in_threads(count, function):
    failures = []

    def guarded(number):
        try:
            function(number)
        except Exception as failure:
            failures.append(failure)

    threads = [threading.Thread(target=guarded, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def read_at_random(top, seed):
    choose = random.Random(seed)
    descriptors = {path: os.open(top / path, os.O_RDONLY | choose.choice([0, os.O_DIRECT]))
                   for path in EXPECTED}
    try:
        for _ in range(400):
            path, content = choose.choice(list(EXPECTED.items()))
            offset, size = choose.randrange(len(content) + 10), choose.choice([1, 8, 100, 4096, 100000])
            same(os.pread(descriptors[path], size, offset), content[offset:offset + size],
                 f'{path} at {offset}')
    finally:
        for descriptor in descriptors.values():
            os.close(descriptor)


@case
def sixteen_threads_read_at_random():
    for options in [], ['-s'], ['-o', 'threads=1'], ['-o', 'threads=8,cachesize=4K'], ['-o',
            'direct_io=on'], \
            ['-o', 'direct_io=off']:
        with mounted(data('example.root'), options=options) as top:
            in_threads(16, lambda number: read_at_random(top, number))


@case
def first_opens_of_all_files_at_once():
    with mounted(data('example.root')) as top:
        def read_everything(number):
            sizes[number] = {}
            for root, _, names in os.walk(top):
                for name in names:
                    if '.ntuplefs' not in root:
                        path = os.path.join(root, name)
                        with open(path, 'rb') as file:
                            sizes[number][path] = len(file.read())
        sizes = {}
        in_threads(4, read_everything)
        for number in range(1, 4):
            same(sizes[number], sizes[0])


@case
def two_mounts_of_one_source_do_not_disturb_each_other():
    with mounted(data('example.root')) as one, mounted(data('example.root')) as other:
        in_threads(8, lambda number: read_at_random([one, other][number % 2], number))


run()
