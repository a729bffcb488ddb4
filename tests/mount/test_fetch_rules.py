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
HEADER = (Path(__file__).parent.parent.parent / 'src/io/fetch.h').read_text()
KINDS = {name: number for number, name in enumerate(re.findall(r'^\s+NT_FETCH_(\w+)', HEADER.split('enum nt_fetch_kind {')[1].split('};')[0], re.M), 1)}


class Layout:
    """Of a structure in front of a message, as the header has it; what is none of these members is 0."""

    def __init__(self, name):
        text = HEADER.split(f'struct {name} {{')[1].split('};')[0]
        members = re.findall(r'^ +(uint32_t|uint64_t|int64_t|struct nt_fetch_totals) ([\w, ]+);', text, re.M)
        codes = {'uint32_t': 'I', 'uint64_t': 'Q', 'int64_t': 'q', 'struct nt_fetch_totals': '8s'}
        self.names = [name for _, names in members for name in names.split(', ')]
        self.struct = struct.Struct('<' + ''.join(codes[kind] * len(names.split(', ')) for kind, names in members))

    def pack(self, **members):
        return self.struct.pack(*(members.get(name, 0) for name in self.names))

    def unpack(self, packet):
        return dict(zip(self.names, self.struct.unpack_from(packet)))


REQUEST, ANSWER = Layout('nt_fetch_request'), Layout('nt_fetch_answer')
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
        told = ANSWER.unpack(self.channel.recv(70000))
        same((told['kind'], told['epoch'] != self.epoch), (KINDS['HELLO'], True))
        self.epoch = told['epoch']

    def tell(self, kind, text='', flags=0):
        number = next(self.ids)
        self.channel.send(REQUEST.pack(kind=KINDS[kind], epoch=self.epoch, id=number, file=number, milliseconds=5000, bytes=flags) + text.encode())

    def ask(self, kind, text):
        """What it ends with: DONE, or why not."""
        self.tell(kind, text)
        while True:
            packet = self.channel.recv(70000)
            found = ANSWER.unpack(packet)['kind']
            if found == KINDS['DONE']:
                return 'DONE'
            if found == KINDS['FAILED']:
                return packet[ANSWER.struct.size:].decode()


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
            same(process.ask(kind, url)== refusal, True, url)
        same(({path for path, _ in own.requests}, other.requests), (asked, []))
        same(process.ask('OPEN', own.url('ok/folder/none')) == refusal, False)
        process.tell('ALLOW', other.url(''))
        process.tell('BEGIN')
        same(process.ask('OPEN', other.url(FILE)) == refusal, True, 'told too late')
        same(other.requests, [])


@case
def a_process_that_follows_another_has_the_same_rules():
    with served(DATA) as own, served(DATA) as other, fetching(own.url(FILE)) as (process, number):
        os.kill(number(), signal.SIGKILL)
        process.greet()
        same(process.ask('OPEN', other.url(FILE)).endswith('lies in none'), True)
        same(process.ask('OPEN', own.url(FILE)), 'DONE')


@case
def programs_tell_their_sources_and_those_of_lists():
    with scratch() as directory:
        program, told = directory / 'fetch', directory / 'told'
        program.write_text(f"""#!/usr/bin/env python3
import os, socket
if os.fork():
    os._exit(0)
channel = socket.socket(fileno=0)
with open({str(told)!r}, 'a') as told:
    while packet := channel.recv(9000):
        print(packet[:{REQUEST.struct.size}].hex(), packet[{REQUEST.struct.size}:].decode(), file=told)
        if packet[0] == {KINDS['BEGIN']}:
            break
""")
        program.chmod(0o700)
        (directory / 'list').write_text('https://h/from/a/list/*.root?secret\nroots://h//one.root\n')
        allow, begin = REQUEST.pack(kind=KINDS['ALLOW']).hex(), REQUEST.pack(kind=KINDS['BEGIN'], bytes=ALONE).hex()
        environment = {**os.environ, 'NTUPLE_FETCH': str(program)}
        for arguments, expected in (
                ([NTUPLE, 'ls', 'https://h/a/b.root?secret'], ['https://h/a/b.root']),
                ([NTUPLE, 'diff', 'https://h/a/', 's3://bucket/key'], ['https://h/a', 's3://bucket/key']),
                ([NTUPLE, 'ls', '--chain', directory / 'list'], ['https://h/from/a/list', 'roots://h//one.root']),
                ([NTUPLEFS, '-f', '-o', 'chain,timeout=5', directory / 'list', 'http://h', directory / 'top'],
                 ['https://h/from/a/list', 'roots://h//one.root', 'http://h'])):
            told.write_text('')
            command(*arguments, env=environment)
            wait_until(lambda: told.read_text().endswith(f'{begin} \n'), 'told')
            same(told.read_text().splitlines(), [*(f'{allow} {place}' for place in expected), f'{begin} '], arguments)


run()
