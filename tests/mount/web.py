# SPDX-License-Identifier: MIT
"""A web server for tests, on loopback: it serves ranges of files like other servers. Each part
of an address before the file is a way to misbehave: http://127.0.0.1:PORT/silent/file.root. It
records requests. And nginx, if it is installed."""
import contextlib
import email.utils
import gzip
import http.client
import http.server
import itertools
import os
import pwd
import shutil
import signal
import socket
import subprocess
import threading
from pathlib import Path

from harness import Skip, scratch, wait_until


def misbehaviour(function):
    MISBEHAVIOURS[function.__name__.replace('_', '-')] = function
    return function


# name: function(handler, answer), which changes the answer, or sends one itself and returns True.
MISBEHAVIOURS = {}


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    # headers and body are two packets: the second would wait for the first one's acknowledgement
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def parts(self, content):
        """[first, end) of each part of the requested content; empty: all of it."""
        text = self.headers.get('Range', '')
        found = [part.split('-') for part in text.removeprefix('bytes=').split(',') if part]
        return [(max(0, len(content) - int(last)), len(content)) if not first else
                (int(first), min(int(last) + 1, len(content)) if last else len(content))
                for first, last in found]

    def good_answer(self, content, tag, modified):
        headers = {'ETag': tag, 'Last-Modified': email.utils.formatdate(modified, usegmt=True)}
        if self.headers.get('If-Match', tag) != tag:
            return Answer(412, headers, b'')
        parts = self.parts(content)
        if not parts:
            return Answer(200, headers, content)
        if any(first >= len(content) for first, _ in parts):
            return Answer(416, {**headers, 'Content-Range': f'bytes */{len(content)}'}, b'')
        ranges = [f'bytes {first}-{end - 1}/{len(content)}' for first, end in parts]
        if len(parts) == 1:
            return Answer(206, {**headers, 'Content-Range': ranges[0]}, content[slice(*parts[0])])
        body = b''.join(b'\r\n--together\r\nContent-Range: %s\r\n\r\n%s'
                        % (text.encode(), content[slice(*part)]) for text, part in zip(ranges, parts))
        return Answer(206, {**headers, 'Content-Type': 'multipart/byteranges; boundary=together'},
                      body + b'\r\n--together--\r\n')

    def send(self, answer, body=None):
        self.send_response(answer.status)
        headers = {'Content-Length': len(answer.body), **answer.headers}
        for name, value in headers.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(answer.body if body is None else body)

    def do_GET(self):
        parts = self.path.split('?')[0].strip('/').split('/')
        ways = list(itertools.takewhile(lambda part: part in MISBEHAVIOURS, parts))
        name = '/'.join(parts[len(ways):])
        site = self.server.site
        with site.lock:
            site.requests.append((self.path, dict(self.headers)))
            site.connections.append(self.client_address)
            self.number = len(site.requests)
        self.name = name
        try:
            content, tag, modified = site.content(name)
        except OSError:
            if ways != ['to-other']:
                self.send(Answer(404, {}, b'no such file'))
                return
            content, tag, modified = b'', '""', 0
        answer = self.good_answer(content, tag, modified)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            if not any([MISBEHAVIOURS[way](self, answer) for way in ways]):
                self.send(answer)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # as servers configure it: clients make many connections at once

    def handle_error(self, *_):
        """Many tests have clients that close their connections."""


EDGE = 7168  # at both ends of a file, which are read on opening
BEGINNING, END = f'bytes=0-{EDGE - 1}', f'bytes=-{EDGE}'
BEFORE_END = [f'bytes=-{EDGE + number * 13 * 1024}' for number in (1, 2)]  # if reads follow at once


class Site:
    """Serves files of a directory, or bytes that a test gives."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.files = {}
        self.requests = []
        self.connections = []  # on which each of them came
        self.lock = threading.Lock()
        self.hangs = threading.Event()  # set: silent answers continue
        self.other = None  # the address to which `to-other` redirects
        self.is_good = False  # those that are bad for some time become good
        self.damaged, self.damage_at = 0, None  # removed answers; where they go

    def content(self, name):
        if name in self.files:
            return self.files[name]
        path = self.folder / name
        return path.read_bytes(), f'"{path.stat().st_mtime_ns:x}"', path.stat().st_mtime

    def ranges(self, since=0):
        """The requests, without those that prepare connections, which ask for the start of a file again,
        or for more than its end."""
        found = [headers['Range'] for _, headers in self.requests[since:]]
        return [requested for number, requested in enumerate(found)
                if requested not in (BEGINNING, *BEFORE_END)
                or requested == BEGINNING and requested not in found[:number]]

    def url(self, path):
        return f'http://127.0.0.1:{self.port}/{path}'


@contextlib.contextmanager
def served(folder):
    site = Site(folder)
    server = Server(('127.0.0.1', 0), Handler)
    server.site, site.port = site, server.server_port
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield site
    finally:
        site.hangs.set()
        server.shutdown()
        thread.join()
        server.server_close()


# ---- who asks ----

@contextlib.contextmanager
def own_program():
    """An environment with a unique name of the program, so that a test can find its processes."""
    with scratch() as directory:
        (directory / 'fetch').symlink_to(os.environ['NTUPLE_FETCH'])
        yield {**os.environ, 'NTUPLE_FETCH': str(directory / 'fetch')}


def fetchers(environment):
    found = {}
    for directory in Path('/proc').iterdir():
        try:
            if (directory / 'cmdline').read_bytes().split(b'\0')[0] == os.fsencode(
                    environment['NTUPLE_FETCH']):
                found[int(directory.name)] = int((directory / 'stat').read_text().rsplit(')',
                        1)[1].split()[1])
        except OSError:
            continue
    return found


# ---- nginx ----

kept = []


def unused_port():
    """Reserved until this process ends: the system gives the port to nobody else. A server that
    reuses addresses, as all here do, can listen on it. Until one does, connections to it are
    refused."""
    keeper = socket.socket()
    kept.append(keeper)
    keeper.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    keeper.bind(('127.0.0.1', 0))
    return keeper.getsockname()[1]


def is_open(port):
    with socket.socket() as probe:
        return probe.connect_ex(('127.0.0.1', port)) == 0


class Nginx:
    """nginx on a port of its own, with extra configuration around and in its only server; `ssl`:
    for that port."""

    def __init__(self, directory):
        self.program = shutil.which('nginx') or shutil.which('nginx', path='/usr/sbin')
        if not self.program:
            raise Skip('nginx is not installed')
        self.directory, self.port, self.process = directory, unused_port(), None

    def write(self, around, within, ssl=''):
        # else it may not see the files
        user = f'user {pwd.getpwuid(0).pw_name};' if os.geteuid() == 0 else ''
        temporary = ''.join(f'{kind}_temp_path {self.directory}/{kind};'
                            for kind in ('client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'))
        (self.directory / 'conf').write_text(
                f"""{user} daemon off; pid {self.directory}/pid; error_log {self.directory}/log; events {{}}
            http {{ access_log {self.directory}/requests; {temporary} {around}
                    server {{ listen 127.0.0.1:{self.port} {ssl}; {within} }} }}""")

    def start(self):
        self.process = subprocess.Popen([self.program, '-e', self.directory / 'log', '-c',
                                         self.directory / 'conf'], stderr=subprocess.DEVNULL)
        wait_until(lambda: is_open(self.port) or self.process.poll() is not None, 'nginx')
        if self.process.poll() is not None:
            raise Skip(f'nginx does not run here: {(self.directory / "log").read_text()}')

    def stop(self):
        self.process.terminate()
        self.process.wait()

    def read_again(self):
        """Changes its configuration; returns when no process of the old one is left."""
        before = self.workers()
        self.process.send_signal(signal.SIGHUP)
        wait_until(lambda: self.workers() and not self.workers() & before, 'nginx reads its configuration')

    def workers(self):
        return set(Path(f'/proc/{self.process.pid}/task/{self.process.pid}/children').read_text().split())


@contextlib.contextmanager
def nginx(directory, around, within, ssl=''):
    server = Nginx(directory)
    server.write(around, within, ssl)
    try:
        server.start()
        yield server
    finally:
        if server.process:
            server.stop()


# ---- WebDAV ----

class Apache:
    """Apache's mod_dav on a port of its own, for a directory `www` in a directory; `requests()`
    returns method, path and range."""

    def __init__(self, directory):
        self.program = shutil.which('apache2') or shutil.which('apache2', path='/usr/sbin')
        modules = Path('/usr/lib/apache2/modules')
        if not self.program or not (modules / 'mod_dav_fs.so').exists():
            raise Skip('apache2 is not installed')
        self.directory, self.port = directory, unused_port()
        (directory / 'www').mkdir()
        directory.chmod(0o755)
        loads = '\n'.join(f'LoadModule {name}_module {modules}/mod_{name}.so'
                          for name in ('mpm_event', 'authz_core', 'dir', 'dav', 'dav_fs', 'status'))
        (directory / 'conf').write_text(f"""{loads}
            PidFile {directory}/pid\nErrorLog {directory}/log\nServerName localhost
            Listen 127.0.0.1:{self.port}
            DocumentRoot {directory}/www\nDAVLockDB {directory}/locks
            CustomLog {directory}/requests "%m %U %{{Range}}i"
            <Directory {directory}/www>\nDav On\nRequire all granted\n</Directory>
            <Location /status>\nSetHandler server-status\n</Location>\n""")
        self.process = subprocess.Popen([self.program, '-D', 'FOREGROUND', '-d', directory, '-f',
                                         directory / 'conf'],
                                        stderr=subprocess.DEVNULL)
        wait_until(lambda: is_open(self.port) or self.process.poll() is not None, 'apache2')
        if self.process.poll() is not None:
            raise Skip(f'apache2 does not run here: {(directory / "log").read_text()}')

    def url(self, path, scheme='dav'):
        return f'{scheme}://127.0.0.1:{self.port}/{path}'

    def requests(self):
        """All until now. The server logs a request while it sends the answer: waits until none
        of its threads works, except the one that reports this."""
        wait_until(self.is_idle, 'the lines of requests')
        path = self.directory / 'requests'
        lines = [tuple(line.rsplit(' ', 1)) for line in path.read_text().splitlines()]
        return [(what, part) for what, part in lines if what != 'GET /status']

    def is_idle(self):
        with contextlib.closing(http.client.HTTPConnection('127.0.0.1', self.port)) as connection:
            connection.request('GET', '/status?auto')
            return b'\nBusyWorkers: 1\n' in connection.getresponse().read()

    def stop(self):
        self.process.terminate()
        self.process.wait()


@contextlib.contextmanager
def apache(directory):
    server = Apache(directory)
    try:
        yield server
    finally:
        server.stop()


# ---- what servers do ----

@misbehaviour
def whole(handler, answer):
    """Ignores Range."""
    answer.status, answer.headers = 200, {}
    answer.body = handler.server.site.content(handler.name)[0]


@misbehaviour
def one_range(handler, answer):
    """Ignores Range if it has several."""
    if ',' in handler.headers['Range']:
        whole(handler, answer)


@misbehaviour
def compressed(handler, answer):
    answer.body = gzip.compress(answer.body)
    answer.headers['Content-Encoding'] = 'gzip'


@misbehaviour
def other_part(handler, answer):
    first, _, rest = answer.headers['Content-Range'].removeprefix('bytes ').partition('-')
    last, total = rest.split('/')
    answer.headers['Content-Range'] = f'bytes {int(first) + 1}-{int(last) + 1}/{int(total) + 2}'


@misbehaviour
def no_content_range(handler, answer):
    del answer.headers['Content-Range']


@misbehaviour
def short(handler, answer):
    """Each answer ends after 3,000 bytes."""
    handler.send(answer, answer.body[:3000])
    handler.close_connection = True
    return True


@misbehaviour
def no_suffix(handler, answer):
    """Like xrootd-http 5.5: answers the end of a file with all of it."""
    if handler.headers['Range'].startswith('bytes=-'):
        whole(handler, answer)


@misbehaviour
def unnamed(handler, answer):
    """Sends no validator."""
    del answer.headers['ETag'], answer.headers['Last-Modified']


@misbehaviour
def weak(handler, answer):
    answer.headers['ETag'] = 'W/' + answer.headers['ETag']


@misbehaviour
def loop(handler, answer):
    answer.status, answer.headers, answer.body = 302, {'Location': handler.path}, b''


@misbehaviour
def elsewhere(handler, answer):
    """Redirects to the same address without this way."""
    answer.status, answer.headers, answer.body = 302, {'Location': handler.path.replace('/elsewhere', '',
            1)}, b''


@misbehaviour
def to_other(handler, answer):
    """Redirects to another server, which a test names; also for missing files."""
    answer.status, answer.headers, answer.body = 302, {'Location': handler.server.site.other
                                                       + handler.name}, b''


@misbehaviour
def forbidden(handler, answer):
    answer.status, answer.headers, answer.body = 403, {}, b'secret text of the server'


@misbehaviour
def unauthorized(handler, answer):
    answer.status, answer.headers, answer.body = 401, {'WWW-Authenticate': 'Basic realm="x"'}, b''


@misbehaviour
def busy(handler, answer):
    answer.status, answer.headers, answer.body = 503, {}, b''


@misbehaviour
def busy_for_long(handler, answer):
    answer.status, answer.headers, answer.body = 429, {'Retry-After': '3600'}, b''


@misbehaviour
def busy_at_first(handler, answer):
    """The first two requests."""
    if handler.number <= 2:
        answer.status, answer.headers, answer.body = 503, {'Retry-After': '1'}, b''


@misbehaviour
def silent(handler, answer):
    handler.server.site.hangs.wait(60)
    handler.close_connection = True
    return True


@misbehaviour
def silent_later(handler, answer):
    """Once a test says so."""
    return handler.server.site.is_good is None and silent(handler, answer)


@misbehaviour
def damaged_once(handler, answer):
    """The byte at a position given by the test is wrong the first time."""
    site = handler.server.site
    first = int(answer.headers['Content-Range'].removeprefix('bytes ').split('-')[0])
    at = site.damage_at - first
    with site.lock:
        is_first = 0 <= at < len(answer.body) and not site.damaged
        site.damaged += is_first
    if is_first:
        answer.body = answer.body[:at] + bytes([answer.body[at] ^ 1]) + answer.body[at + 1:]


@misbehaviour
def endless_headers(handler, answer):
    handler.wfile.write(b'HTTP/1.1 206 Partial Content\r\n')
    with contextlib.suppress(OSError):
        for number in range(1000):
            handler.wfile.write(f'X-{number}: {"x" * 1000}\r\n'.encode())
    handler.close_connection = True
    return True


@misbehaviour
def garbage(handler, answer):
    handler.wfile.write(b'\0\xff' * 100 + b'\r\n\r\n')
    handler.close_connection = True
    return True
