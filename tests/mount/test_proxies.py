# SPDX-License-Identifier: MIT
"""Servers behind a proxy that resolves their names, or connects to them: what may be requested of
it."""
import contextlib
import os
import socket
import socketserver
import threading
from urllib.parse import quote

from fetching import fetching
from harness import DATA, NTUPLE, case, command, output, run, same
from web import served

FILE = 'example.root'
SOURCE = f'http://data.example/{FILE}'
# libcurl refuses digits that are not ASCII, as long as the program sets no locale
WIDE = f'http://{quote("１６９.２５４.１６９.２５４", safe=".")}/'
METADATA = ('http://169.254.169.254/', 'http://2852039166/', 'http://0xa9.0xfe.43518/',
            'http://[::ffff:a9fe:a9fe]/', 'http://[fd00:ec2::254]/', 'http://169%2e254.169%2e254/',
            'http://169.254.169.254./', 'http://Metadata.Google.Internal/',
            'http://metadata.google.internal./', 'http://metadata/', 'https://169.254.169.254/',
            'https://metadata.google.internal/')


class Proxy(socketserver.ThreadingTCPServer):
    """By HTTP or SOCKS 5. All names are those of one server; `asked` are the names and addresses."""
    daemon_threads = True

    def __init__(self, port):
        super().__init__(('127.0.0.1', 0), Connection)
        self.port, self.asked = port, []

    def handle_error(self, *_):
        pass


class Connection(socketserver.StreamRequestHandler):
    def handle(self):
        first = self.rfile.read(1)
        with socket.create_connection(('127.0.0.1', self.server.port)) as other:
            if first == b'\5':
                self.socks()
            else:
                other.sendall(self.http(first))
            threading.Thread(target=pipe, args=(other, self.connection), daemon=True).start()
            pipe(self.connection, other)

    def http(self, first):
        """The request for the server, which ends the connection after its answer."""
        head = first + b''.join(iter(self.rfile.readline, b'\r\n'))
        method, url, rest = head.split(b' ', 2)
        host = url if method == b'CONNECT' else url.split(b'/')[2]
        self.server.asked.append(host.decode())
        return b' '.join([method, b'/' + b'/'.join(url.split(b'/')[3:]), rest]) + b'Connection: close\r\n\r\n'

    def socks(self):
        self.rfile.read(self.rfile.read(1)[0])
        self.wfile.write(b'\5\0')
        kind = self.rfile.read(4)[3]
        host = self.rfile.read(self.rfile.read(1)[0] if kind == 3 else 4)
        self.rfile.read(2)
        self.server.asked.append(host.decode() if kind == 3 else socket.inet_ntoa(host))
        self.wfile.write(b'\5\0\0\1' + bytes(6))


def pipe(source, target):
    with contextlib.suppress(OSError):
        while part := source.recv(65536):
            target.sendall(part)
        target.shutdown(socket.SHUT_WR)


@contextlib.contextmanager
def proxied(scheme='http'):
    """A server that only a proxy reaches, the proxy, and an environment with it."""
    with served(DATA) as site, Proxy(site.port) as proxy:
        thread = threading.Thread(target=proxy.serve_forever, args=(0.05,))
        thread.start()
        address = f'{scheme}://127.0.0.1:{proxy.server_address[1]}'
        plain = {name: value for name, value in os.environ.items() if not name.lower().endswith('_proxy')}
        try:
            yield site, proxy, {**plain, 'http_proxy': address, 'https_proxy': address}
        finally:
            proxy.shutdown()
            thread.join()


def is_refused(url, environment, reason=b'instance metadata'):
    found = command(NTUPLE, 'ls', '--timeout=5', url, env=environment)
    same((found.returncode != 0, reason in found.stderr), (True, True), (url, found.stderr))


@case
def names_that_a_proxy_knows_are_read():
    for scheme in 'http', 'socks5h':
        with proxied(scheme) as (_, proxy, environment):
            same(b'Events' in output(NTUPLE, 'ls', SOURCE, env=environment), True)
            same(set(proxy.asked), {'data.example'})


@case
def a_proxy_is_not_asked_for_instance_metadata():
    """Neither for a source nor for the target of a redirect, however its address is written."""
    for scheme in 'http', 'socks5h':
        with proxied(scheme) as (site, proxy, environment):
            for address in (*METADATA, WIDE):
                site.other = address
                reason = b'bad/illegal format' if address == WIDE else b'instance metadata'
                for url in f'http://data.example/to-other/{FILE}', address + FILE:
                    is_refused(url, environment, reason)
            same(set(proxy.asked), {'data.example'})
            site.other = 'http://other.example/'
            output(NTUPLE, 'ls', f'http://data.example/to-other/{FILE}', env=environment)
            same(set(proxy.asked), {'data.example', 'other.example'})


@case
def a_service_of_instance_metadata_is_no_proxy():
    is_refused(SOURCE, {**os.environ, 'http_proxy': 'http://169.254.169.254:80'})


@case
def a_compromised_worker_has_the_proxy_request_only_the_sources():
    with proxied() as (_, proxy, environment), fetching(SOURCE, env=environment) as (process, _):
        for address in (f'http://other.example/{FILE}', 'http://data.example/empty.root',
                        'http://data.example@other.example/', f'http://data.example:81/{FILE}',
                        *METADATA):
            same(process.ask('OPEN', address), 'it is neither a source nor inside one', address)
        same(proxy.asked, [])
        same(process.ask('OPEN', SOURCE), 'DONE')
        same(set(proxy.asked), {'data.example'})


run(at_once=3)
