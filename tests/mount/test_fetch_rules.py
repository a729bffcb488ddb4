# SPDX-License-Identifier: MIT
"""The allowed requests of the network helper are fixed before any untrusted byte is read: an
attacker in the worker cannot reach another server."""
import itertools
import os
import signal

from fetching import ALONE, KINDS, REQUEST, fetching
from harness import DATA, NTUPLE, NTUPLEFS, command, case, run, same, scratch, wait_until
from web import served

FILE = 'example.root'
@case
def a_compromised_worker_reaches_only_the_sources():
    refusal = 'it is neither a source nor inside one'
    with served(DATA) as own, served(DATA) as other, fetching(own.url('ok/' + FILE),
                                                              own.url('ok/folder')) as (process, _):
        own.files['ok/' + FILE] = own.content(FILE)
        same(process.ask('OPEN', own.url('ok/' + FILE)), 'DONE')
        asked = {path for path, _ in own.requests}
        for kind, url in itertools.product(('OPEN', 'LIST'), (
                other.url(FILE), own.url(FILE), own.url('ok/folder/../' + FILE),
                own.url('ok/folder/%2e%2e/' + FILE), own.url('ok/folderol'),
                own.url('ok/' + FILE).replace('127.0.0.1', 'localhost'),
                own.url('ok/' + FILE).replace('http', 'dav'), 'http://169.254.169.254/',
                's3://ok/folder', 'root://127.0.0.1//ok/folder')):
            same(process.ask(kind, url)== refusal, True, url)
        same(({path for path, _ in own.requests}, other.requests), (asked, []))
        same(process.ask('OPEN', own.url('ok/folder/none')) == refusal, False)
        process.send('ALLOW', other.url(''))
        process.send('BEGIN')
        same(process.ask('OPEN', other.url(FILE)) == refusal, True, 'told too late')
        same(other.requests, [])


@case
def a_process_that_follows_another_has_the_same_rules():
    with served(DATA) as own, served(DATA) as other, fetching(own.url(FILE)) as (process, number):
        os.kill(number(), signal.SIGKILL)
        process.greet()
        same(process.ask('OPEN', other.url(FILE)).endswith('it is neither a source nor inside one'), True)
        same(process.ask('OPEN', own.url(FILE)), 'DONE')


@case
def programs_say_their_sources_and_those_of_lists():
    with scratch() as directory:
        program, shown = directory / 'fetch', directory / 'told'
        program.write_text(f"""#!/usr/bin/env python3
import os, socket
if os.fork():
    os._exit(0)
channel = socket.socket(fileno=0)
with open({str(shown)!r}, 'a') as told:
    while packet := channel.recv(9000):
        print(packet[:{REQUEST.struct.size}].hex(), packet[{REQUEST.struct.size}:].decode(), file=told)
        if packet[0] == {KINDS['BEGIN']}:
            break
""")
        program.chmod(0o700)
        (directory / 'list').write_text('https://h/from/a/list/*.root?secret\nroots://h//one.root\n')
        allow, begin = REQUEST.pack(kind=KINDS['ALLOW']).hex(), REQUEST.pack(kind=KINDS['BEGIN'],
                bytes=ALONE).hex()
        environment = {**os.environ, 'NTUPLE_FETCH': str(program)}
        for arguments, expected in (
                ([NTUPLE, 'ls', 'https://h/a/b.root?secret'], ['https://h/a/b.root']),
                ([NTUPLE, 'diff', 'https://h/a/', 's3://bucket/key'], ['https://h/a', 's3://bucket/key']),
                ([NTUPLE, 'ls', '--chain', directory / 'list'],
                 ['https://h/from/a/list', 'roots://h//one.root']),
                ([NTUPLEFS, '-f', '-o', 'chain,timeout=5', directory / 'list', 'http://h', directory / 'top'],
                 ['https://h/from/a/list', 'roots://h//one.root', 'http://h'])):
            shown.write_text('')
            command(*arguments, env=environment)
            wait_until(lambda: shown.read_text().endswith(f'{begin} \n'), 'told')
            same(shown.read_text().splitlines(), [*(f'{allow} {place}' for place in expected), f'{begin} '],
                 arguments)


run()
