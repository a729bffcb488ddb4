# SPDX-License-Identifier: MIT
"""Servers of a directory on this machine, if they are installed: nginx for http, xrootd for
root://; and a slow line to them."""
import contextlib
import os
import pathlib
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.parse
import xml.sax.saxutils

START_SECONDS = 10


def unused_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port, process):
    end = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < end:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return True
        time.sleep(0.05)
    return False


def find(program):
    return shutil.which(program) or shutil.which(program, path="/usr/sbin")


@contextlib.contextmanager
def running(command, port):
    """True once it listens."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield wait_for(port, process)
    finally:
        process.terminate()
        process.wait()


END = "bytes=-7168"  # the range of a file that opening needs


class Web:
    """nginx, and the requests that it received."""

    def __init__(self, port, log):
        self.port, self.log, self.read = port, log, 0

    def requests(self):
        """[(address and Range, bytes sent)] of the requests since the last call, without those that prepare
        connections; these repeat the last request, or request more than the end of a file."""
        time.sleep(0.05)  # nginx logs a request after it has sent the answer
        lines = self.log.read_text().splitlines()
        found = [line.split() for line in lines[self.read:]]
        self.read = len(lines)
        return [(requested, int(sent)) for number, (requested, sent) in enumerate(found)
                if requested not in [before for before, _ in found[:number]]
                and ("bytes=-" not in requested or requested.endswith(END))]


BUCKET = "data"


def listing(folder, prefix, delimiter):
    """The answer of S3's ListObjectsV2 for the files of a directory. The tags are those of nginx."""
    objects, folders = "", {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        key, found = str(path.relative_to(folder)), path.stat()
        below = key.removeprefix(prefix).split("/")
        if not key.startswith(prefix):
            continue
        if delimiter and len(below) > 1:
            folders[f"{prefix}{below[0]}/"] = True
            continue
        tag = xml.sax.saxutils.escape(f'"{int(found.st_mtime):x}-{found.st_size:x}"')
        modified = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(found.st_mtime))
        objects += (f"<Contents><Key>{key}</Key><LastModified>{modified}</LastModified><ETag>{tag}</ETag>"
                    f"<Size>{found.st_size}</Size></Contents>")
    prefixes = "".join(f"<CommonPrefixes><Prefix>{name}</Prefix></CommonPrefixes>" for name in folders)
    return (f"<ListBucketResult><Name>{BUCKET}</Name><Prefix>{prefix}</Prefix><IsTruncated>false"
            f"</IsTruncated>{objects}{prefixes}</ListBucketResult>")


def bucket_locations(folder, state):
    """nginx serves the files of a directory as the objects of a bucket, and lists that are written
    now: the directory must not change. Signatures are ignored."""
    lists = state / "lists"
    lists.mkdir()
    for path in [folder, *(path for path in folder.rglob("*") if path.is_dir())]:
        prefix = "" if path == folder else f"{path.relative_to(folder)}/"
        for delimiter in "", "/":
            name = f"list-{urllib.parse.quote(delimiter, safe='')}-{urllib.parse.quote(prefix, safe='')}"
            (lists / name).write_text(listing(folder, prefix, delimiter))
    answer = f"{{ root {lists}; rewrite ^ /list-$arg_delimiter-$arg_prefix break; }}"
    return (f"location = /{BUCKET} {answer} location = /{BUCKET}/ {answer} "
            f"location /{BUCKET}/ {{ alias {folder}/; }}")


def bucket(folder, state):
    """The same as web, by S3."""
    return web(folder, state, bucket_locations(folder, state))


@contextlib.contextmanager
def web(folder, state, locations=None):
    """nginx of a directory, or None if it is not installed. With tcp_nopush each answer would wait
    40 ms on loopback."""
    program, port = find("nginx"), unused_port()
    if not program:
        yield None
        return
    locations = locations or f"location / {{ root {folder}; }}"
    user = f"user {pwd.getpwuid(0).pw_name};" if os.geteuid() == 0 else ""
    temporary = "".join(f"{kind}_temp_path {state}/{kind};"
                        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    (state / "nginx").write_text(
            f"""{user} daemon off; pid {state}/pid; error_log {state}/errors;
        events {{ worker_connections 1024; }}
        http {{ log_format ranges '$request_uri$http_range $body_bytes_sent';
                access_log {state}/requests ranges; {temporary}
                tcp_nopush off; keepalive_requests 100000;
                server {{ listen 127.0.0.1:{port}; {locations} }} }}""")
    with running([program, "-e", state / "errors", "-c", state / "nginx"], port) as is_there:
        yield Web(port, state / "requests") if is_there else None


@contextlib.contextmanager
def xrootd(folder):
    """The server's port, or None. xrootd refuses to run as root. It then runs as another user,
    who cannot see private directories."""
    program, port = find("xrootd"), unused_port()
    if not program:
        yield None
        return
    with tempfile.TemporaryDirectory() as state:
        os.chmod(state, 0o777)
        with started_xrootd(program, port, folder, pathlib.Path(state)) as is_there:
            yield port if is_there else None


def started_xrootd(program, port, folder, state):
    (state / "configuration").write_text(f"""xrd.port {port}
        xrd.network nodnr
        all.export / r/o
        oss.localroot {folder}
        all.adminpath {state}
        all.pidpath {state}
        """)
    other = ["-R", "nobody"] if os.geteuid() == 0 else []
    return running([program, *other, "-c", state / "configuration", "-l", state / "log", "-n", "bench"], port)


@contextlib.contextmanager
def slow_line(program, port, milliseconds):
    """The port of its near end: 125 MB/s, windows of 4 MiB, slow start."""
    with subprocess.Popen([program, "--rtt", str(milliseconds), "--rate", "125", "--window", "4096",
                           str(port)],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield int(process.stdout.readline())
        finally:
            process.stdin.close()
