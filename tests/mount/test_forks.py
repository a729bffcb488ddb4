#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Processes that read with the package ntuple and fork: each reads its values, whatever the
others do, and none waits forever. Files are local and on servers of every kind.
NTUPLE_FORK_SECONDS is the time of each case."""
import contextlib
import logging
import os
import subprocess
import sys
from pathlib import Path

from blz_writer import blz_array
from harness import DATA, case, command, need, output, run, same, scratch, wait_until
from web import apache, fetchers, own_program, served
from xrootd_server import xrootd

SECONDS = os.environ.get('NTUPLE_FORK_SECONDS', '1')
FORKING = Path(__file__).parent / 'forking.py'
METHODS = 'fork', 'forkserver', 'spawn'


def write_files(directory):
    output(os.environ['WRITE_LARGE'], directory / 'large.root')
    blz_array(directory / 'array', 64, 20000, counts_on=True)


def read_in_all(addresses, more={}):
    """In threads and forked processes, and in those of pools."""
    need('ntuple')
    for way, method in ('fork', '-'), *(('pool', method) for method in METHODS):
        with own_program() as environment:
            command = [sys.executable, FORKING, way, method, SECONDS, *addresses]
            result = subprocess.run(command, env={**environment, **more}, capture_output=True, text=True,
                                    timeout=250 + float(SECONDS))
            same(result.returncode, 0, f'{way} {method}: {result.stderr[-3000:]}')
            if float(SECONDS) > 10:
                print(f'{addresses[0]}, {way} {method}: {result.stdout}', end='')
            wait_until(lambda: not fetchers(environment), f'{way} {method}: the network helpers have ended')


@case
def files_that_are_here():
    with scratch() as directory:
        write_files(directory)
        read_in_all([directory / 'large.root', directory / 'array'])


@case
def files_on_web_servers_and_folders_by_webdav():
    with scratch() as directory, apache(directory) as server:
        write_files(directory / 'www')
        read_in_all([server.url('large.root', 'http'), server.url('array/')])


@case
def files_and_folders_on_servers_of_xrootd():
    with scratch() as directory:
        (directory / 'files').mkdir()
        write_files(directory / 'files')
        with xrootd(directory, directory / 'files') as server:
            read_in_all([server.url('large.root'), server.url('array/')])


@contextlib.contextmanager
def bucket():
    """The environment of a user who may read `s3://data`."""
    moto, boto3 = need('moto.server'), need('boto3')
    logging.getLogger('werkzeug').setLevel(logging.ERROR)
    key = {'AWS_ACCESS_KEY_ID': 'some', 'AWS_SECRET_ACCESS_KEY': 'some', 'AWS_DEFAULT_REGION': 'us-east-1'}
    server = moto.ThreadedMotoServer(ip_address='127.0.0.1', port=0, verbose=False)
    server.start()
    try:
        url = 'http://{}:{}'.format(*server.get_host_and_port())
        s3 = boto3.client('s3', endpoint_url=url, region_name='us-east-1', aws_access_key_id='some',
                          aws_secret_access_key='some')
        s3.create_bucket(Bucket='data')
        yield s3, key | {'AWS_ENDPOINT_URL': url}
    finally:
        server.stop()


@case
def folders_of_objects():
    with scratch() as directory, bucket() as (s3, reported):
        array = blz_array(directory / 'array', 16, 20000, counts_on=True)
        for path in array.rglob('*'):
            if path.is_file():
                s3.upload_file(str(path), 'data', str(path.relative_to(directory)))
        read_in_all(['s3://data/array/'], reported)


# ---- one after the other ----

ONE_WAITS = '''
import os, sys, threading, time
import ntuple
silent, sound, expected = ntuple.open(sys.argv[1]), ntuple.open(sys.argv[2]), ntuple.open(sys.argv[3])
field = "event"
def wait():
    try:
        silent["Events"][field]
    except ntuple.Error:
        pass
print("open", flush=True)
sys.stdin.readline()
waiting = threading.Thread(target=wait, daemon=True)
waiting.start()
time.sleep(1)
assert waiting.is_alive(), "nobody waits for the server"
start = time.monotonic()
process = os.fork()
if process == 0:
    os._exit(0 if sound["Events"][field].tolist() == expected["Events"][field].tolist() else 1)
assert os.waitpid(process, 0)[1] == 0
assert time.monotonic() - start < 10, time.monotonic() - start
os._exit(0)
'''


@case
def a_process_forks_while_a_thread_waits_for_a_server():
    need('ntuple')
    with served(DATA) as site:
        process = subprocess.Popen([sys.executable, '-c', ONE_WAITS, site.url('silent-later/example.root'),
                                    site.url('example.root'), DATA / 'example.root'],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        same(process.stdout.readline(), 'open\n')
        site.is_good = None  # the server is silent from here on
        process.communicate('go\n', timeout=60)
        same(process.returncode, 0)


OUTLIVED = '''
import os, sys, time
import ntuple
dataset = ntuple.open(sys.argv[1])["Events"]
dataset["weight"]
if os.fork():
    os._exit(0)
print("forked", flush=True)
sys.stdin.read()
print(len(dataset["event"]), flush=True)
'''


@case
def a_forked_process_keeps_nothing_of_a_parent_that_ends():
    """The helper ends with its process; the child's starts with the first bytes that it
    requests."""
    need('ntuple')
    with served(DATA) as site, own_program() as environment, \
            subprocess.Popen([sys.executable, '-c', OUTLIVED, site.url('example.root')], env=environment,
                             text=True,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        same(process.stdout.readline(), 'forked\n')
        process.wait()
        wait_until(lambda: not fetchers(environment), 'the network helper for the parent has ended')
        process.stdin.close()
        same(process.stdout.readline(), '1000\n')
        wait_until(lambda: not fetchers(environment), 'and that for the child')


# ---- chains ----

CHAINED = '''
import sys
import ntuple
whole = ntuple.chain(sys.argv[1:])["Events"]
print(whole.entries, whole["event"][1000] == whole["event"][0], flush=True)
sys.stdin.read()
'''


@case
def a_query_is_no_pattern():
    """A single file has older cycles, which a chain does not have."""
    need('ntuple')
    name = 'dirs_and_cycles.root'
    script = 'import sys, ntuple; print(*[list(ntuple.open(source)) for source in sys.argv[1:]], sep="\\n")'
    with served(DATA) as site, own_program() as environment:
        sources = DATA / name, site.url(f'{name}?key=[1]*')
        shown = command(sys.executable, '-c', script, *sources, env=environment)
        here, there = shown.stdout.decode().splitlines()
        same((here, 'top;1' in here), (there, True), shown.stderr)


@case
def a_chain_of_addresses_has_one_network_helper():
    need('ntuple')
    with served(DATA) as site, own_program() as environment:
        numbers = []
        for count in 1, 8:
            addresses = [site.url(f'example.root?{number}') for number in range(count + 1)]
            with subprocess.Popen([sys.executable, '-c', CHAINED, *addresses], env=environment, text=True,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
                same(process.stdout.readline(), f'{1000 * (count + 1)} True\n')
                numbers.append(len(fetchers(environment)))
                process.stdin.close()
            wait_until(lambda: not fetchers(environment), 'the network helper has ended')
        assert numbers[0] and numbers[0] == numbers[1], numbers


run(needs_fuse=False)
