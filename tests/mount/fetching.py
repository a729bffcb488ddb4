# SPDX-License-Identifier: MIT
"""Calls of the network helper by a test, over its socket, with the messages of
src/remote/protocol.h."""
import contextlib
import itertools
import re
import socket
import struct
import subprocess
from pathlib import Path

from harness import same
from web import fetchers, own_program

HEADER = (Path(__file__).parent.parent.parent / 'src/remote/protocol.h').read_text()
KINDS = {name: number for number, name in enumerate(re.findall(r'^\s+NT_FETCH_(\w+)',
                                                               HEADER.split('enum nt_helper_message {')[
                                                                       1].split('};')[0], re.M), 1)}


class Layout:
    """A structure before a message, from the header; other members are 0."""

    def __init__(self, name):
        text = HEADER.split(f'struct {name} {{')[1].split('};')[0]
        codes = {'uint16_t': 'H', 'uint32_t': 'I', 'uint64_t': 'Q', 'int64_t': 'q',
                 'struct nt_fetch_totals': '8s'}
        members = re.findall(rf'^ +({"|".join(codes)}) ([\w, ]+);', text, re.M)
        self.names = [name for _, names in members for name in names.split(', ')]
        self.struct = struct.Struct('<' + ''.join(codes[kind] * len(names.split(', ')) for kind,
                                                  names in members))

    def pack(self, **members):
        return self.struct.pack(*(members.get(name, 0) for name in self.names))

    def unpack(self, packet):
        return dict(zip(self.names, self.struct.unpack_from(packet)))


REQUEST, ANSWER = Layout('nt_fetch_request'), Layout('nt_fetch_answer')
ALONE = 1


class Fetching:
    """The process, as an attacker in the worker would see it: a socket."""

    def __init__(self, environment, *places):
        self.channel, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.channel.settimeout(10)
        self.ids = itertools.count(1)
        self.epoch = 0
        with other:
            subprocess.run([environment['NTUPLE_FETCH']], stdin=other.fileno(), env=environment, check=True)
        for place in places:
            self.send('ALLOW', place)
        self.send('BEGIN', flags=ALONE)
        self.greet()

    def greet(self):
        reported = ANSWER.unpack(self.channel.recv(70000))
        same((reported['kind'], reported['epoch'] != self.epoch), (KINDS['HELLO'], True))
        self.epoch = reported['epoch']

    def send(self, kind, text='', flags=0):
        number = next(self.ids)
        self.channel.send(REQUEST.pack(kind=KINDS[kind], epoch=self.epoch, id=number, file=number,
                                       milliseconds=5000, bytes=flags) + text.encode())

    def ask(self, kind, text):
        """How it ends: DONE, or the reason."""
        self.send(kind, text)
        while True:
            packet = self.channel.recv(70000)
            found = ANSWER.unpack(packet)['kind']
            if found == KINDS['DONE']:
                return 'DONE'
            if found == KINDS['FAILED']:
                return packet[ANSWER.struct.size:].decode()


@contextlib.contextmanager
def fetching(*places, env=None):
    """With its process id, or that of its successor."""
    with own_program() as environment:
        environment.update(env or {}, NTUPLE_FETCH=environment['NTUPLE_FETCH'])
        process = Fetching(environment, *places)

        def number():
            found = fetchers(environment)
            return next(child for child, parent in found.items() if parent in found)

        try:
            yield process, number
        finally:
            process.channel.close()
