# SPDX-License-Identifier: MIT
"""Servers that lie, on loopback. Each way to lie is a function and the first part of an address:
http://127.0.0.1:PORT/WAY/NAME. They write raw bytes, because no server library would."""
import contextlib
import gzip
import re
import socket
import struct
import threading
import time

MANY = 1 << 20
TAG = '"v1"'


class Liar:
    """Answers each request of each connection by its own function until one returns True: then
    the connection ends."""

    def __init__(self, file):
        self.file, self.content, self.requests, self.lock = file, file.read_bytes(), 0, threading.Lock()
        self.socket = socket.create_server(('127.0.0.1', 0), backlog=128)
        self.port = self.socket.getsockname()[1]

    def __enter__(self):
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.socket.accept()
                threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with connection, contextlib.suppress(OSError, EOFError):
            self.talk(connection)

    def count(self):
        with self.lock:
            self.requests += 1
            return self.requests


# ---- HTTP ----

LIES = {}
LISTS = {}


def lie(function):
    LIES[function.__name__.replace('_', '-')] = function
    return function


def listing(function):
    LISTS[function.__name__.replace('_', '-')] = function
    return function


class Request:
    def __init__(self, head, content):
        self.method, self.path = head.split(' ')[:2]
        found = re.search(r'(?im)^range: *bytes=(\d*)-(\d*)', head)
        self.has_range = found is not None
        first, last = found.groups() if found else ('0', '')
        if first:
            self.first, self.last = int(first), min(int(last) if last else len(content) - 1, len(content) - 1)
        else:
            self.first, self.last = max(0, len(content) - int(last)), len(content) - 1
        self.part = content[self.first:self.last + 1]


class WebLiar(Liar):
    def url(self, way, name='file.root', scheme='http'):
        return f'{scheme}://127.0.0.1:{self.port}/{way}/{name}'

    def talk(self, connection):
        file = connection.makefile('rb')
        while True:
            head = b''
            while not head.endswith(b'\r\n\r\n'):
                line = file.readline()
                if not line:
                    return
                head += line
            head = head.decode('latin-1')
            length = re.search(r'(?im)^content-length: *(\d+)', head)
            file.read(int(length.group(1)) if length else 0)
            request = Request(head, self.content)
            way = request.path.split('/')[1].split('?')[0]
            is_list = request.method == 'PROPFIND' or 'list-type=2' in request.path
            answer = LISTS.get(way) if is_list else LIES.get(way, honest)
            if not answer or answer(self, connection.sendall, request):
                return


def headers(status, *lines):
    return '\r\n'.join([f'HTTP/1.1 {status}', *lines, '', '']).encode('latin-1')


def send_part(server, send, request, *more, body=None, tag=TAG, place=None, length=None):
    """The requested part; `place`, `length` and `body` replace the truth."""
    body = request.part if body is None else body
    place = place or f'{request.first}-{request.last}/{len(server.content)}'
    length = len(body) if length is None else length
    send(headers('206 Partial Content', f'Content-Range: bytes {place}', f'Content-Length: {length}',
                 *([f'ETag: {tag}'] if tag else []), *more) + body)


def honest(server, send, request):
    if request.has_range:
        send_part(server, send, request)
    else:
        send(headers('200 OK', f'Content-Length: {len(server.content)}', f'ETag: {TAG}') + server.content)


def lie_behind_the_body(name, line):
    """A header in the trailer of a chunked body, which arrives after the answer was checked."""
    def answer(server, send, request):
        place = f'{request.first}-{request.last}/{len(server.content)}'
        send(headers('206 Partial Content', f'Content-Range: bytes {place}', 'Transfer-Encoding: chunked',
                     f'Trailer: {line.split(":")[0]}', f'ETag: {TAG}')
             + b'%x\r\n%b\r\n0\r\n%b\r\n\r\n' % (len(request.part), request.part, line.encode()))
    LIES[name] = answer


lie_behind_the_body('trailer-no-range', 'Content-Range: bytes x')
lie_behind_the_body('trailer-status', 'HTTP/1.1 206 OK')
lie_behind_the_body('trailer-small', 'Content-Range: bytes 0-99/100')
lie_behind_the_body('trailer-large', 'Content-Range: bytes 0-7167/9000000000000000000')
lie_behind_the_body('trailer-total', 'Content-Range: bytes 0-7167/7169')
lie_behind_the_body('trailer-empty', 'Content-Range: bytes */0')
lie_behind_the_body('trailer-encoding', 'Content-Encoding: gzip')
lie_behind_the_body('trailer-tag', 'ETag: "other"')


@lie
def less_than_it_says(server, send, request):
    send_part(server, send, request, body=request.part[:-10], length=len(request.part))
    return True


@lie
def more_than_it_says(server, send, request):
    send(headers('206 Partial Content',
                 f'Content-Range: bytes {request.first}-{request.last}/{len(server.content)}',
                 f'ETag: {TAG}', 'Connection: close')
         + request.part + bytes(100_000))
    return True


@lie
def another_place(server, send, request):
    send_part(server, send, request,
              place=f'{request.first + 1}-{request.last + 1}/{len(server.content) + 5}')


@lie
def a_size_of_all_there_is(server, send, request):
    send_part(server, send, request, place=f'{request.first}-{request.last}/{(1 << 63) - 1}')


@lie
def a_negative_size(server, send, request):
    send_part(server, send, request, place=f'{request.first}-{request.last}/-1')


@lie
def a_size_that_overflows(server, send, request):
    send_part(server, send, request, place=f'{request.first}-{request.last}/{1 << 70}')


@lie
def a_version_each_time(server, send, request):
    send_part(server, send, request, tag=f'"v{server.count()}"')


@lie
def no_version_and_other_bytes(server, send, request):
    send_part(server, send, request, tag=None, body=bytes([server.count() % 256]) * len(request.part))


@lie
def bytes_of_another_place(server, send, request):
    send_part(server, send, request, body=request.part[::-1])


@lie
def a_compressed_bomb(server, send, request):
    send_part(server, send, request, 'Content-Encoding: gzip', body=gzip.compress(bytes(1 << 24), 1))


@lie
def many_headers(server, send, request):
    send(b'HTTP/1.1 206 Partial Content\r\n')
    for number in range(MANY):
        send(b'X-%d: %b\r\n' % (number, b'a' * 1000))
    return True


@lie
def one_header_without_end(server, send, request):
    send(b'HTTP/1.1 206 Partial Content\r\nX: ')
    for _ in range(MANY):
        send(b'a' * 65536)
    return True


@lie
def many_early_hints(server, send, request):
    for _ in range(10_000):
        send(headers('103 Early Hints', 'Link: x'))
    honest(server, send, request)


@lie
def a_byte_every_second(server, send, request):
    for byte in headers('206 Partial Content', 'Content-Range: bytes 0-7167/100000',
                        'Content-Length: 7168') + bytes(7168):
        send(bytes([byte]))
        time.sleep(1)


@lie
def commands_for_terminals(server, send, request):
    send(headers('418 \x1b[31mEVIL\x1b[0m', 'ETag: "\x1b[31m"', 'x-amz-bucket-region: \x1b]0;pwn\x07',
                 'Content-Length: 0'))


@lie
def no_http(server, send, request):
    send(b'220 smtp.example ESMTP\r\n')
    return True


@lie
def another_status_than_there_is(server, send, request):
    send(headers('999 \xff', 'Content-Length: 0'))


def redirect(name, target):
    def answer(server, send, request):
        send(headers('302 Found', f'Location: {target.format(port=server.port)}', 'Content-Length: 0'))
    LIES[name] = answer


redirect('to-a-file', 'file:///etc/passwd')
redirect('to-gopher', 'gopher://127.0.0.1:{port}/_x')
redirect('to-ftp', 'ftp://127.0.0.1/x')
redirect('to-scp', 'scp://127.0.0.1/x')
redirect('to-dict', 'dict://127.0.0.1:{port}/x')
redirect('to-itself', '/to-itself/file.root')
redirect('to-a-user', 'http://user:secret@127.0.0.1:{port}/honest/file.root')
redirect('to-metadata', 'http://169.254.169.254/latest/meta-data/')
redirect('to-a-header', 'http://127.0.0.1:{port}/honest/file.root%0d%0aX-Injected: 1')
redirect('to-nowhere', 'http:///')


# ---- lists of directories ----

def send_list(send, text, status='207 Multi-Status'):
    body = text.encode() if isinstance(text, str) else text
    send(headers(status, 'Content-Type: application/xml', f'Content-Length: {len(body)}') + body)


def dav_entry(server, path):
    return (f'<D:response><D:href>{path}</D:href><D:propstat><D:prop><D:resourcetype/><D:getcontentlength>'
            f'{len(server.content)}</D:getcontentlength>'
            '<D:getetag>"v1"</D:getetag></D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat></'
            'D:response>')


def dav(server, paths, front=''):
    entries = "".join(dav_entry(server, path) for path in paths)
    return f'<?xml version="1.0"?>{front}<D:multistatus xmlns:D="DAV:">{entries}</D:multistatus>'


@listing
def names_that_lead_out(server, send, request):
    here = '/names-that-lead-out'
    send_list(send, dav(server, [f'{here}/{name}' for name in (
        '../../etc/passwd.root', '%2e%2e%2f%2e%2e%2fetc.root', '..', '.', 'a%00b.root', '%1b[31m.root',
        'a%0ab.root', 'n' * 300 + '.root', '%ff%fe.root', 'good.root')]
        + ['http://other.example/names-that-lead-out/x.root', '/other/y.root']))


@listing
def entities_of_entities(server, send, request):
    entities = '<!ENTITY a "aaaaaaaaaa">' + ''.join(
            f'<!ENTITY a{i} "{(f"&a{i - 1};" if i else "&a;") * 10}">' for i in range(10))
    send_list(send, dav(server, ['/entities-of-entities/&a9;.root'], f'<!DOCTYPE l [{entities}]>'))


@listing
def an_entity_of_a_file(server, send, request):
    send_list(send, dav(server, ['/an-entity-of-a-file/&a;.root'],
                        '<!DOCTYPE l [<!ENTITY a SYSTEM "file:///etc/passwd">]>'))


@listing
def names_without_end(server, send, request):
    send(headers('207 Multi-Status', 'Connection: close')
         + b'<?xml version="1.0"?><D:multistatus xmlns:D="DAV:">')
    for start in range(0, 20_000_000, 1000):
        send(''.join(dav_entry(server, f'/names-without-end/{start + i}.root') for i in range(1000)).encode())
    return True


@listing
def a_comment_without_end(server, send, request):
    send(headers('207 Multi-Status', 'Connection: close')
         + b'<?xml version="1.0"?><D:multistatus xmlns:D="DAV:"><!--')
    for _ in range(MANY):
        send(b'x' * 65536)
    return True


@listing
def depth_without_end(server, send, request):
    send(headers('207 Multi-Status', 'Connection: close') + b'<?xml version="1.0"?>')
    for _ in range(MANY):
        send(b'<D:a xmlns:D="DAV:">' * 1000)
    return True


@listing
def half_a_list(server, send, request):
    send_list(send, dav(server, ['/half-a-list/good.root'])[:-20])


@listing
def a_list_that_is_none(server, send, request):
    send_list(send, b'\xff\xfe\0{"not": "xml"}')


def send_keys(server, send, keys):
    entries = ''.join(f'<Contents><Key>{key}</Key><Size>{len(server.content)}</Size><ETag>"v1"</ETag></'
                      f'Contents>' for key in keys)
    send_list(send, f'<ListBucketResult>{entries}</ListBucketResult>', '200 OK')


@listing
def keys_that_lead_out(server, send, request):
    send_keys(server, send, ['f/../x.root', 'f/..', '../y.root', 'f/good.root', 'f/a&#10;b.root', 'f/',
                             'f//z.root'])


@listing
def tokens_without_end(server, send, request):
    send_list(send, '<ListBucketResult><IsTruncated>true</IsTruncated>'
              f'<NextContinuationToken>t{server.count()}</NextContinuationToken></ListBucketResult>',
              '200 OK')


@listing
def one_token_for_ever(server, send, request):
    send_list(send,
              '<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>t</'
              'NextContinuationToken></ListBucketResult>', '200 OK')


# ---- XRootD ----

XROOTD_LIES = {}
PROTOCOL, LOGIN, OPEN, STAT, READ, READV, CLOSE, QUERY = 3006, 3007, 3010, 3017, 3013, 3025, 3003, 3001
OK, OK_SO_FAR, ATTENTION, ERROR, REDIRECT, WAIT = 0, 4000, 4001, 4003, 4004, 4005


def xrootd_lie(*requests):
    """Lies about these requests; answers the others honestly."""
    def add(function):
        XROOTD_LIES[function.__name__.replace('_', '-')] = (requests, function)
        return function
    return add


class XrootdLiar(Liar):
    """One way to lie for each server: a connection comes before any path."""

    def __init__(self, file, way):
        super().__init__(file)
        self.requests_of_lie, self.lie = XROOTD_LIES[way] if way else ((), None)

    def url(self):
        return f'root://127.0.0.1:{self.port}//file.root'

    def talk(self, connection):
        file = connection.makefile('rb')
        if len(file.read(20)) < 20:
            return
        connection.sendall(struct.pack('>2sHIII', b'\0\0', OK, 8, 0x520, 1))
        while True:
            head = file.read(24)
            if len(head) < 24:
                return
            stream, kind, body, length = struct.unpack('>2sH16sI', head)
            request = XrootdRequest(self, connection.sendall, stream, kind, body, file.read(length))
            if kind in self.requests_of_lie:
                if self.lie(request):
                    return
            else:
                request.answer()


class XrootdRequest:
    def __init__(self, server, send, stream, kind, body, data):
        self.server, self.send_bytes, self.stream = server, send, stream
        self.kind, self.body, self.data = kind, body, data

    def send(self, data=b'', status=OK, stream=None, length=None):
        length = len(data) if length is None else length
        self.send_bytes(struct.pack('>2sHI', stream or self.stream, status, length) + data)

    def part(self):
        offset, count = struct.unpack('>qi', self.body[4:16])
        return self.server.content[offset:offset + count]

    def parts(self):
        for at in range(0, len(self.data), 16):
            handle, count, offset = struct.unpack('>4siq', self.data[at:at + 16])
            yield handle, count, offset, self.server.content[offset:offset + count]

    def content(self, change=lambda part: part):
        """The requested bytes; each of several parts has a header, with its length before it
        changes."""
        if self.kind == READ:
            return change(self.part())
        return b''.join(struct.pack('>4siq', handle, count, offset) + change(part) for handle, count, offset,
                        part in self.parts())

    def status_text(self, size=None):
        return f'1 {len(self.server.content) if size is None else size} 16 1700000000\0'.encode()

    def answer(self):
        if self.kind == PROTOCOL:
            self.send(struct.pack('>II', 0x520, 1))
        elif self.kind == LOGIN:
            self.send(bytes(16))
        elif self.kind == OPEN:
            self.send(b'hand' + struct.pack('>I4s', 0, b'\0\0\0\0') + self.status_text())
        elif self.kind == STAT:
            self.send(self.status_text())
        elif self.kind in (READ, READV):
            self.send(self.content())
        elif self.kind == QUERY:
            self.send(b'0\0')
        else:
            self.send()


@xrootd_lie(READ, READV)
def less_than_was_asked_for(request):
    request.send(request.content(lambda part: part[:-1]))


@xrootd_lie(READ, READV)
def more_than_was_asked_for(request):
    request.send(request.content(lambda part: part + bytes(1000)))


@xrootd_lie(READ, READV)
def other_bytes(request):
    request.send(request.content(lambda part: part[::-1]))


@xrootd_lie(READ, READV)
def a_length_without_bytes(request):
    request.send(b'', length=0x7fffffff)


@xrootd_lie(READ, READV)
def a_negative_length(request):
    request.send(b'', length=0xffffffff)


@xrootd_lie(READ, READV)
def pieces_without_end(request):
    for _ in range(10_000):
        request.send(bytes(1 << 16), OK_SO_FAR)
    return True


@xrootd_lie(READ, READV)
def an_answer_without_a_request(request):
    request.send(request.content(), stream=b'\xff\xfe')


@xrootd_lie(READ, READV)
def a_status_that_is_none(request):
    request.send(b'x', 0xffff)


@xrootd_lie(READ, READV)
def attention_that_is_none(request):
    request.send(struct.pack('>I', 0xffff), ATTENTION)


@xrootd_lie(READV)
def parts_of_other_places(request):
    request.send(b''.join(struct.pack('>4siq', handle, count, offset + 1) + part for handle, count, offset,
                          part in request.parts()))


@xrootd_lie(READV)
def parts_longer_than_they_are(request):
    request.send(b''.join(struct.pack('>4siq', handle, 0x7fffffff, offset) + part for handle, count, offset,
                          part in request.parts()))


@xrootd_lie(OPEN, STAT)
def a_size_that_is_negative(request):
    request.send((b'hand' + bytes(8) if request.kind == OPEN else b'') + request.status_text(-1))


@xrootd_lie(OPEN, STAT)
def a_size_of_everything(request):
    request.send((b'hand' + bytes(8) if request.kind == OPEN else b'') + request.status_text((1 << 63) - 1))


@xrootd_lie(OPEN, STAT)
def a_status_without_numbers(request):
    request.send((b'hand' + bytes(8) if request.kind == OPEN else b'') + b'\xff' * 100)


@xrootd_lie(OPEN)
def half_a_handle(request):
    request.send(b'h')


@xrootd_lie(OPEN)
def a_server_for_ever(request):
    request.send(struct.pack('>I', request.server.port) + b'127.0.0.1', REDIRECT)


def redirect_to_this_machine(request):
    """To a file that the network helper may read: test_liars.py names its directory."""
    request.send(struct.pack('>i', -1) + f'file://localhost{request.server.file}'.encode(), REDIRECT)


@xrootd_lie(OPEN)
def a_server_of_the_web(request):
    request.send(struct.pack('>i', -1) + b'http://127.0.0.1/secret', REDIRECT)


@xrootd_lie(OPEN)
def a_server_of_instance_metadata(request):
    request.send(struct.pack('>I', 80) + b'169.254.169.254', REDIRECT)


@xrootd_lie(OPEN)
def a_file_of_this_machine(request):
    redirect_to_this_machine(request)


@xrootd_lie(READ, READV)
def a_file_of_this_machine_while_it_is_read(request):
    redirect_to_this_machine(request)


@xrootd_lie(OPEN)
def a_wait_for_ever(request):
    request.send(struct.pack('>I', 0x7fffffff), WAIT)


@xrootd_lie(OPEN)
def a_message_for_terminals(request):
    request.send(struct.pack('>I', 3011) + b'\x1b[31mEVIL\n\x1b]0;pwn\x07\0', ERROR)


@xrootd_lie(LOGIN)
def an_unknown_authentication_method(request):
    request.send(bytes(16) + b'&P=' + b'x' * 100_000)


@xrootd_lie(PROTOCOL)
def nothing_but_noise(request):
    request.send_bytes(b'\xff' * 100_000)
    return True
