# SPDX-License-Identifier: MIT
"""A file that is replaced on its server while it is read: reads are of one version, from start
to end, or fail. The file has no checksums, so that only the server's validator can show it.
NTUPLE_REPLACEMENTS: the number of replacements."""
import contextlib
import functools
import os
import random
import signal
import struct
import threading
import time

import numpy

from harness import NTUPLE, case, command, run, same, scratch
from web import nginx, served

REPLACEMENTS = int(os.environ.get('NTUPLE_REPLACEMENTS', '30'))
CHUNKS, CHUNK_BYTES = 24, 64 * 1024
NAME = 'numbers.blp'
CHANGED, UNREACHABLE = 2, 9


@functools.lru_cache(maxsize=2)
def version(number):
    """A bloscpack file of uncompressed chunks: each element is the number."""
    chunk = struct.pack('<q', number) * (CHUNK_BYTES // 8)
    block = struct.pack('<BBBBIII', 2, 1, 2, 8, CHUNK_BYTES, CHUNK_BYTES, CHUNK_BYTES + 16) + chunk
    first = 32 + 8 * CHUNKS
    offsets = b''.join(struct.pack('<q', first + number * len(block)) for number in range(CHUNKS))
    return struct.pack('<4sBBBBiiqq', b'blpk', 3, 1, 0, 8, CHUNK_BYTES, CHUNK_BYTES, CHUNKS,
                       0) + offsets + block * CHUNKS


class Readings:
    """Readings of the whole file, each by its own process; the versions that they read."""

    def __init__(self, url):
        self.url, self.good, self.refused = url, 0, 0

    def read(self):
        result = command(NTUPLE, 'cat', '--timeout=20', self.url, 'numbers/values/data.bin')
        versions = set(numpy.frombuffer(result.stdout, '<i8').tolist())
        if result.returncode == 0:
            same((len(result.stdout), len(versions)), (CHUNKS * CHUNK_BYTES, 1), 'of one version')
            self.good += 1
        else:
            same(len(versions) <= 1, True, f'{versions}: what was read before the error')
            same(any(words in result.stderr for words in (b'replaced or modified', b'no longer there',
                                                          b'ended', b'tries', b'timed out')), True,
                 result.stderr)
            self.refused += 1


@case
def a_file_that_is_replaced_while_it_is_read_is_never_mixed():
    """Between any two requests, after few or many of them: within readings, and between them."""
    with served('/nonexistent') as site:
        readings, chance = Readings(site.url(NAME)), random.Random(1)
        number, left = 1, 10

        def content(_):
            nonlocal number, left
            with site.lock:
                left -= 1
                if left < 0 and number < REPLACEMENTS // 2:
                    number, left = number + 1, chance.randrange(30)
                return version(number), f'"{number}"', 1000 + number

        site.content = content
        while number < REPLACEMENTS // 2:
            readings.read()
        same(readings.refused > 0, True, 'readings in which it was replaced')
        before = readings.good
        readings.read()
        same(readings.good, before + 1, 'when nothing is replaced any more')


@case
def a_server_that_is_killed_stopped_and_started_anew_meanwhile_brings_nothing_of_two_versions():
    with scratch() as directory, nginx(directory, '',
                                       f'location / {{ root {directory}/files; limit_rate 20m; }}') as server:
        (directory / 'files').mkdir()
        directory.chmod(0o755)

        def replace(number):
            (directory / 'next').write_bytes(version(number))
            os.utime(directory / 'next', (number, number))
            os.replace(directory / 'next', directory / 'files' / NAME)

        def disturb():
            for number in range(2, REPLACEMENTS // 2 + 2):
                replace(number)
                time.sleep(0.05)
                if number % 5 == 0:
                    workers = server.workers()
                    server.process.kill()  # first: it would start other workers
                    server.process.wait()
                    for process in workers:
                        with contextlib.suppress(ProcessLookupError):
                            os.kill(int(process), signal.SIGKILL)
                    server.start()
                elif number % 3 == 0:
                    stopped = [int(process) for process in server.workers()]
                    for what in (signal.SIGSTOP, signal.SIGCONT):
                        for process in stopped:
                            os.kill(process, what)
                        time.sleep(0.1)

        replace(1)
        readings = Readings(f'http://127.0.0.1:{server.port}/{NAME}')
        disturbing = threading.Thread(target=disturb)
        disturbing.start()
        while disturbing.is_alive():
            readings.read()
        disturbing.join()
        before = readings.good
        readings.read()
        same(readings.good, before + 1, 'afterwards')


run()
