# SPDX-License-Identifier: MIT
"""What the process that fetches may be asked for is fixed before anybody looks at a stranger's byte: who takes over the process that decodes has no way to
another server."""
import contextlib
import itertools
import os
import re
import signal
import socket
import struct
import subprocess
from pathlib import Path

from harness import DATA, NTUPLE, NTUPLEFS, command, case, run, same, scratch, wait_until
from web import fetchers, own_program, served

FILE = 'example.root'
REQUEST = struct.Struct('<IIQIIIIQQ')  # kind, epoch, id, file, milliseconds, is_ahead, unused, offset, bytes
HEADER = (Path(__file__).parent.parent.parent / 'src/io/fetch.h').read_text()
KINDS = {name: number for number, name in enumerate(re.findall(r'^\s+NT_FETCH_(\w+)', HEADER.split('enum nt_fetch_kind {')[1].split('};')[0], re.M), 1)}
ALONE = 1


class Fetching:
    """The process, as who has taken over the one that decodes has it: a socket."""

    def __init__(self, environment, *places):
        self.channel, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.channel.settimeout(10)
        self.ids = itertools.count(1)
        self.epoch = 0
        with other:
            subprocess.run([environment['NTUPLE_FETCH']], stdin=other.fileno(), check=True)
        for place in places:
            self.tell('ALLOW', place)
        self.tell('BEGIN', flags=ALONE)
        self.greet()

    def greet(self):
        kind, self.epoch = struct.unpack_from('<II', self.channel.recv(70000))
        same(kind, KINDS['HELLO'])

    def tell(self, kind, text='', flags=0):
        number = next(self.ids)
        self.channel.send(REQUEST.pack(KINDS[kind], self.epoch, number, number, 5000, 0, 0, 0, flags) + text.encode())

    def ask(self, kind, text):
        """What it ends with: DONE, or why not."""
        self.tell(kind, text)
        while True:
            packet = self.channel.recv(70000)
            found = struct.unpack_from('<I', packet)[0]
            if found == KINDS['DONE']:
                return 'DONE'
            if found == KINDS['FAILED']:
                return packet[-200:].decode(errors='replace')


@contextlib.contextmanager
def fetching(*places):
    """And its number, or that of one that has followed it."""
    with own_program() as environment:
        process = Fetching(environment, *places)

        def number():
            found = fetchers(environment)
            return next(child for child, parent in found.items() if parent in found)

        try:
            yield process, number
        finally:
            process.channel.close()


@case
def who_takes_over_the_process_that_decodes_reaches_the_sources_alone():
    refusal = 'it is none of the sources, and lies in none'
    with served(DATA) as own, served(DATA) as other, fetching(own.url('ok/' + FILE), own.url('ok/folder')) as (process, _):
        own.files['ok/' + FILE] = own.content(FILE)
        same(process.ask('OPEN', own.url('ok/' + FILE)), 'DONE')
        asked = {path for path, _ in own.requests}
        for kind, url in itertools.product(('OPEN', 'LIST'), (
                other.url(FILE), own.url(FILE), own.url('ok/folder/../' + FILE), own.url('ok/folder/%2e%2e/' + FILE), own.url('ok/folderol'),
                own.url('ok/' + FILE).replace('127.0.0.1', 'localhost'), own.url('ok/' + FILE).replace('http', 'dav'), 'http://169.254.169.254/',
                's3://ok/folder', 'root://127.0.0.1//ok/folder')):
            same(process.ask(kind, url).endswith(refusal), True, url)
        same(({path for path, _ in own.requests}, other.requests), (asked, []))
        same(process.ask('OPEN', own.url('ok/folder/none')).endswith(refusal), False)
        process.tell('ALLOW', other.url(''))
        process.tell('BEGIN')
        same(process.ask('OPEN', other.url(FILE)).endswith(refusal), True, 'told too late')
        same(other.requests, [])


@case
def a_process_that_follows_another_has_the_same_rules():
    with served(DATA) as own, served(DATA) as other, fetching(own.url(FILE)) as (process, number):
        os.kill(number(), signal.SIGKILL)
        process.greet()
        same(process.epoch, 2)
        same(process.ask('OPEN', other.url(FILE)).endswith('lies in none'), True)
        same(process.ask('OPEN', own.url(FILE)), 'DONE')


@case
def programs_tell_their_sources_and_those_of_lists():
    with scratch() as directory:
        program, told = directory / 'fetch', directory / 'told'
        program.write_text(f'#!/usr/bin/env python3\nimport os, socket\nif os.fork():\n    os._exit(0)\nchannel = socket.socket(fileno=0)\n'
                           f'with open({str(told)!r}, "a") as told:\n    while packet := channel.recv(9000):\n'
                           f'        print(*packet[:1], packet[40], packet[48:].decode(), file=told)\n'
                           f'        if packet[0] == {KINDS["BEGIN"]}: break\n')
        program.chmod(0o700)
        (directory / 'list').write_text('https://h/from/a/list/*.root?secret\nroots://h//one.root\n')
        allow, begin = KINDS['ALLOW'], KINDS['BEGIN']
        environment = {**os.environ, 'NTUPLE_FETCH': str(program)}
        for arguments, expected in (
                ([NTUPLE, 'ls', 'https://h/a/b.root?secret'], ['https://h/a/b.root']),
                ([NTUPLE, 'diff', 'https://h/a/', 's3://bucket/key'], ['https://h/a', 's3://bucket/key']),
                ([NTUPLE, 'ls', '--chain', directory / 'list'], ['https://h/from/a/list', 'roots://h//one.root']),
                ([NTUPLEFS, '-f', '-o', 'chain,timeout=5', directory / 'list', 'http://h', directory / 'top'],
                 ['https://h/from/a/list', 'roots://h//one.root', 'http://h'])):
            told.write_text('')
            command(*arguments, env=environment)
            wait_until(lambda: told.read_text().endswith(f'{begin} {ALONE} \n'), 'told')
            same(told.read_text().splitlines(), [*(f'{allow} 0 {place}' for place in expected), f'{begin} {ALONE} '], arguments)


run()
