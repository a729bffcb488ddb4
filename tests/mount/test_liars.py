# SPDX-License-Identifier: MIT
"""Servers that lie. For any answer, reads give the file's contents or fail in time, with the
address, and nothing crashes, grows or prints commands for terminals."""
import concurrent.futures
import os
import signal
import struct
import subprocess

from harness import NTUPLE, case, command, data, run, same
from liars import LIES, LISTS, LOGIN, OPEN, PROTOCOL, REDIRECT, XROOTD_LIES, WebLiar, XrootdLiar

SOURCE, PATH = data('compression_zstd.root'), 'compressed/noise/data.bin'
SECONDS = 4  # for a read
LATE = 30  # including start, end and a busy machine
# Limit of address space: a program that a lie makes large fails. Not with sanitizers, which reserve
# terabytes.
LIMIT = ['prlimit', f'--as={4 << 30}'] if os.environ.get('FAULT_PRELOAD') else []
BUCKETS = 'keys-that-lead-out', 'tokens-without-end', 'one-token-for-ever'
MAX_REQUESTS = 20_000
# src/cli/cli.h
STATUSES = {'damaged': 5, 'unknown format': 3, 'unsupported': 4, 'usage': 1, 'not found': 2, 'unreachable': 9}


def honest_output(*words):
    result = command(NTUPLE, *words)
    same(result.returncode, 0, words)
    return result.stdout


def ask(*words, **environment):
    """Exit status, output and messages of a command that ends in time."""
    found = subprocess.run([*LIMIT, NTUPLE, words[0], f'--timeout={SECONDS}', *words[1:]],
                           capture_output=True, timeout=LATE,
                           env={name: value for name, value in os.environ.items()
                                if not name.lower().endswith('_proxy')} | environment)
    assert found.returncode >= 0, (words, signal.Signals(-found.returncode).name, found.stderr)
    assert b'\x1b' not in found.stderr + (found.stdout if words[0] == 'ls' else b''), (words, found.stderr)
    assert b'ended by' not in found.stderr, (words, found.stderr)  # the network helper
    return found


def check(way, url, expected, **environment):
    """How many were read; else there is a message about the address, and a status that says
    whose fault it is."""
    found = ask('cat', url, PATH, **environment)
    if found.returncode == 0:
        same(found.stdout, expected, way)
        return 1
    assert found.returncode in STATUSES.values(), (way, found)
    assert b'127.0.0.1' in found.stderr, (way, found.stderr)
    assert b'secret' not in found.stderr, (way, found.stderr)
    return 0


def at_once(ways, function):
    """The ways for which a function that mostly waits returns true."""
    with concurrent.futures.ThreadPoolExecutor(5) as pool:
        return [way for way, result in zip(ways, pool.map(function, ways)) if result]


@case
def web_servers_with_false_answers_are_found_out():
    expected = honest_output('cat', SOURCE, PATH)
    assert len(LIES) >= 30, len(LIES)
    with WebLiar(SOURCE) as server:
        same(check('honest', server.url('honest'), expected), 1, 'an honest server')
        read = at_once(LIES, lambda way: check(way, server.url(way), expected))
    refused = set(LIES) - set(read)
    must_refuse = {'less-than-it-says', 'another-place', 'a-negative-size', 'a-size-that-overflows',
                   'a-version-each-time', 'no-version-and-other-bytes',
                   'bytes-of-another-place', 'many-headers', 'one-header-without-end', 'a-byte-every-second',
                   'no-http', 'to-a-file', 'to-gopher', 'to-ftp',
                   'to-scp', 'to-dict', 'to-itself', 'to-metadata', 'to-nowhere'}
    same(must_refuse - refused, set(), 'read in spite of a lie')


@case
def false_lists_of_folders_are_found_out():
    for way in LISTS:
        with WebLiar(SOURCE) as server:
            url, environment = f's3://{way}/f/', {'AWS_ENDPOINT_URL': f'http://127.0.0.1:{server.port}',
                                                  'AWS_ACCESS_KEY_ID': 'key',
                                                  'AWS_SECRET_ACCESS_KEY': 'secret'}
            if way not in BUCKETS:
                url, environment = server.url(way, '', 'dav'), {}
            found = ask('ls', url, **environment)
            if found.returncode == 0:
                names = found.stdout.decode().split()
                same([name for name in names if 'passwd' in name or name.startswith('..')
                      or 'other' in name], [], way)
            else:
                assert found.returncode in STATUSES.values(), (way, found)
                assert way.encode() in found.stderr, (way, found.stderr)
            assert server.requests < MAX_REQUESTS, (way, server.requests)
            is_good = way in ('names-that-lead-out', 'keys-that-lead-out')
            same(found.returncode == 0 and b'good' in found.stdout, is_good, (way, found))


@case
def xrootd_servers_with_false_answers_are_found_out():
    expected = honest_output('cat', SOURCE, PATH)
    with XrootdLiar(SOURCE, None) as server:
        found = ask('cat', server.url(), PATH)
        if b'xrootd' in found.stderr.lower() and found.returncode == STATUSES['unsupported']:
            return  # built without it
        same((found.returncode, found.stdout), (0, expected), found.stderr)
    must_refuse = {'less-than-was-asked-for', 'other-bytes', 'a-length-without-bytes',
                   'a-size-that-is-negative', 'half-a-handle', 'a-server-for-ever',
                   'a-file-of-this-machine', 'a-file-of-this-machine-while-it-is-read', 'a-wait-for-ever',
                   'nothing-but-noise', 'a-server-of-instance-metadata'}

    def try_way(way):
        with XrootdLiar(SOURCE, way) as server:
            return check(way, server.url(), expected, X509_CERT_DIR=str(SOURCE.parent))

    same(must_refuse & set(at_once(XROOTD_LIES, try_way)), set(), 'read in spite of a lie')


@case
def no_redirect_of_xrootd_leads_to_instance_metadata():
    with XrootdLiar(SOURCE, 'a-server-of-instance-metadata') as server:
        found = ask('cat', server.url(), PATH)
    if b'xrootd' in found.stderr.lower() and found.returncode == STATUSES['unsupported']:
        return  # built without it
    assert b'ntuplefs never contacts such servers' in found.stderr, found


@case
def a_redirect_of_xrootd_takes_the_query_along_but_no_token():
    """Nothing but requests of the protocol, to a server that no address names."""
    seen = []

    def record(request):
        seen.append((request.kind, request.body, request.data))
        request.answer()

    with XrootdLiar(SOURCE, None) as first, XrootdLiar(SOURCE, None) as other:
        target = struct.pack('>I', other.port) + b'127.0.0.1'
        first.requests_of_lie, first.lie = (OPEN,), lambda request: request.send(target, REDIRECT)
        other.requests_of_lie, other.lie = (PROTOCOL, LOGIN, OPEN), record
        found = ask('cat', f'{first.url()}?authz=abcdef', PATH, BEARER_TOKEN='a-bearer-token')
    if b'xrootd' in found.stderr.lower() and found.returncode == STATUSES['unsupported']:
        return  # built without it
    same((found.returncode, found.stdout), (0, honest_output('cat', SOURCE, PATH)), found.stderr)
    same([kind for kind, _, _ in seen], [PROTOCOL, LOGIN, OPEN])
    same(b'authz=abcdef' in seen[-1][2], True, seen)
    same([part for _, *parts in seen for part in parts if b'a-bearer-token' in part], [])


run()
