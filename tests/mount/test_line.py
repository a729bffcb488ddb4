# SPDX-License-Identifier: MIT
"""Files over a line that is long, breaks, or stalls for a while; and that the line has the given
properties."""
import contextlib
import functools
import os
import re
import socket
import socketserver
import sys
import threading
import time
from pathlib import Path

import numpy

from harness import IN_TIME, NTUPLE, case, command, on_a_terminal, output, run, same, scratch
from line import slow_line
from web import BEFORE_END, BEGINNING, EDGE, END, served

sys.path.insert(0, str(Path(__file__).parent.parent / 'support'))
from bloscpack_file import write_bloscpack

ROUND_TRIP = 0.08
FIRST_WINDOW = 14600
UNREACHABLE = 9


# ---- the line ----

class Sender(socketserver.BaseRequestHandler):
    """A number and a newline: the answer has so many bytes."""

    def handle(self):
        with contextlib.suppress(OSError):
            while requested := self.request.makefile('rb', 0).readline():
                self.request.sendall(bytes(int(requested)))


@contextlib.contextmanager
def sender():
    server = socketserver.ThreadingTCPServer(('127.0.0.1', 0), Sender)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


@contextlib.contextmanager
def connected(**reported):
    with sender() as server, slow_line(server, **reported) as line, socket.create_connection(('127.0.0.1',
            line.port), 10) as connection:
        yield connection, line.port


def receive(connection, count):
    while count:
        bytes_read = len(connection.recv(min(count, 1 << 20)))
        if not bytes_read:
            raise EOFError(f'{count} bytes are missing')
        count -= bytes_read


def answered(connection, count, start=None):
    """Seconds until an answer of so many bytes arrives, from `start` if that is earlier than the
    request."""
    start = start or time.monotonic()
    connection.sendall(b'%d\n' % count)
    receive(connection, count)
    return time.monotonic() - start


class Late(AssertionError):
    pass


def far(round_trip=ROUND_TRIP, **reported):
    return {'rtt': 1000 * round_trip, **reported}


def takes(seconds, round_trips, round_trip, what):
    """Exactly so many."""
    least = round_trips * round_trip
    same(seconds >= least, True, f'{what}: {seconds:.3f} s, expected {least:.3f} s')
    if seconds >= least + round_trip:
        raise Late(f'{what}: {seconds:.3f} s, expected {least:.3f} s')


def of_some_round_trip(function):
    """A busy machine adds time, which is a smaller share for a longer line."""
    @functools.wraps(function)
    def tried():
        for doublings in range(4):
            with contextlib.suppress(Late):
                return function(ROUND_TRIP * 2 ** doublings)
        return function(ROUND_TRIP * 16)
    return tried


@case
@of_some_round_trip
def a_line_takes_round_trips(round_trip):
    with sender() as server, slow_line(server, **far(round_trip)) as line:
        start = time.monotonic()  # the line's time starts with the request to connect
        with socket.create_connection(('127.0.0.1', line.port), 10) as connection:
            takes(answered(connection, 1, start), 2, round_trip, 'the first answer of a connection')
            takes(answered(connection, 1), 1, round_trip, 'the next one')


@case
@of_some_round_trip
def a_connection_that_opens_does_not_delay_others(round_trip):
    with connected(**far(round_trip)) as (connection, port):
        answered(connection, 1)
        with socket.create_connection(('127.0.0.1', port), 10) as other:
            other.sendall(b'1\n')
            takes(answered(connection, 1), 1, round_trip, 'the answer of an open connection')


@case
@of_some_round_trip
def a_window_begins_with_ten_segments_and_doubles(round_trip):
    with connected(**far(round_trip)) as (connection, _):
        answered(connection, 1)
        takes(answered(connection, FIRST_WINDOW), 1, round_trip, 'the first window')
        takes(answered(connection, 7 * FIRST_WINDOW), 3, round_trip, 'two windows, four, and one more')
        takes(answered(connection, 8 * FIRST_WINDOW), 1, round_trip, 'it has grown')
        time.sleep(max(0.2, 2 * round_trip) + 0.1)
        takes(answered(connection, 7 * FIRST_WINDOW), 3, round_trip, 'after a while it begins anew')
    with connected(**far(round_trip, window=14)) as (connection, _):
        answered(connection, 1)
        takes(answered(connection, 4 * 14 * 1024), 4, round_trip, 'it may not grow')


@case
def connections_share_the_rate():
    count = 500_000
    with connected(rate=2, window=4096) as (connection, port), socket.create_connection(('127.0.0.1', port),
            10) as other:
        start = time.monotonic()
        for one in (connection, other):
            one.sendall(b'%d\n' % count)
        for one in (connection, other):
            receive(one, count)
        seconds = time.monotonic() - start
        same(0.5 <= seconds < 5, True, f'a megabyte by 2 MB/s: {seconds} s')


@case
def a_line_is_cut_once_and_stalls_for_a_while():
    with connected(cut=100_000) as (connection, port):
        try:
            answered(connection, 1_000_000)
            same(True, False, 'it was not cut')
        except (EOFError, ConnectionResetError):
            pass
        with socket.create_connection(('127.0.0.1', port), 10) as other:
            answered(other, 1_000_000)
    with connected(stall=100_000, stall_for=300) as (connection, _):
        answered(connection, 50_000)
        seconds = answered(connection, 1_000_000)
        same(0.3 <= seconds < 5, True, seconds)


# ---- files behind it ----

@contextlib.contextmanager
def large_column(rows=3 << 17):
    """A server of a file with one column, and the column's contents: 3 MB, requested in twelve
    parts."""
    column = numpy.random.default_rng(1).integers(0, 1 << 62, rows)
    with scratch() as directory, served(directory) as site:
        write_bloscpack(directory / 'large.blp', column)
        yield site, column.tobytes()


def reading(line, *options):
    return NTUPLE, 'cat', *options, f'http://127.0.0.1:{line.port}/large.blp', 'large/values/data.bin'


def read_through(line, *options):
    return command(*reading(line, *options))


def is_read(line, content):
    result = read_through(line)
    same((result.returncode, result.stdout == content), (0, True), result.stderr)


@case
def a_line_that_is_cut_while_a_column_is_read_is_not_noticed():
    with large_column() as (site, content):
        for cut in (300_000, len(content) // 2):
            count = len(site.requests)
            with slow_line(site.port, rtt=5, rate=10, cut=cut) as line:
                is_read(line, content)
            same(line.happened, ['cut'], 'the line')
            ranges = [requested.removeprefix('bytes=').split('-') for requested in site.ranges(count)]
            asked = sum(int(last) - int(first) + 1 for first, last in ranges if first)
            same(len(content) < asked <= 2 * (len(content) + EDGE), True,
                 f'{asked} bytes were asked for of {len(content)}')


def connections_of_a_column(directory):
    """The connections that a column was read by, those made while its file was opened, and the
    requests."""
    with served(directory) as site, slow_line(site.port, **far()) as line:
        output(NTUPLE, 'cat', f'http://127.0.0.1:{line.port}/large.root', 'Events/c47/data.bin')
        asked = [(headers['Range'], connection) for (_, headers),
                 connection in zip(site.requests, site.connections)]
        first = (BEGINNING, END, *BEFORE_END)
        opening = {connection for requested, connection in asked if requested in first}
        reading = {connection for requested, connection in asked if requested not in first}
        return reading, opening, [requested for requested, _ in asked]


@case
def columns_come_on_connections_that_were_made_while_the_file_was_opened():
    tries = 3  # a delayed server accepts some only when the column is requested
    with scratch() as directory:
        output(os.environ['WRITE_LARGE'], directory / 'large.root')
        for _ in range(tries):
            reading, opening, ranges = connections_of_a_column(directory)
            if reading <= opening:
                break
        same((len(reading) > 2, reading <= opening), (True, True), ranges)


@case
def columns_that_are_read_together_are_requested_together():
    columns, clusters = 48, 4
    most = {'verify': columns // 3, 'head.jsonl': columns // 3, 'table.arrow': columns}
    with scratch() as directory, served(directory) as site:
        output(os.environ['WRITE_LARGE'], directory / 'large.root')
        column = output(NTUPLE, 'cat', directory / 'large.root', f'Events/c{columns - 1}/data.bin')
        for requested, limit in most.items():
            verb, *path = ('verify',) if requested == 'verify' else ('cat', f'Events/{requested}')
            count = len(site.requests)
            near, far = (command(NTUPLE, verb, place, *path)
                         for place in (directory / 'large.root', site.url('large.root')))
            same(far.returncode, near.returncode, far.stderr)
            same(requested != 'head.jsonl' or far.stdout == near.stdout, True, requested)
            same(requested != 'table.arrow' or column[-len(column) // clusters:] in far.stdout, True,
                 requested)
            asked = [part for part in site.ranges(count) if part != BEGINNING]
            same(len(asked) <= limit, True,
                 f'{requested}: {len(asked)} requests for {columns} columns of {clusters} clusters')


@case
def a_line_that_stalls_for_a_while_is_waited_for_and_how_far_it_is_reported():
    with large_column(3 << 19) as (site, content), scratch() as directory:
        copy = directory / 'copy'
        with slow_line(site.port, rtt=5, stall=len(content) // 3, stall_for=1300) as line, open(copy,
                'wb') as file:
            text = on_a_terminal(*reading(line), stdout=file)
        same(line.happened, ['stalled'], 'the line')
        same(copy.read_bytes() == content, True, text)
        same(bool(re.search(rb'\r\[=* *\] +\d+ %, [\d.]+ [KM]iB of 12.0 MiB, [\d.]+ [KM]?i?B/s', text)),
             True, text)


@case
def a_line_that_stalls_for_good_is_an_error_in_time():
    with large_column() as (site, content), slow_line(site.port, rtt=5, stall=len(content) // 3) as line:
        start = time.monotonic()
        result = read_through(line, '--timeout=1')
        message = result.stderr.decode()
        same(result.returncode, UNREACHABLE, message)
        same(re.search('damage|corrupt|checksum', message), None, message)
        same(time.monotonic() - start < IN_TIME, True, time.monotonic() - start)


run(needs_fuse=False)
