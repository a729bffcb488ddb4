# SPDX-License-Identifier: MIT
"""Columns of a file on a server, through lines of 20 and 100 ms, compared with uproot and ROOT
on the same file through the same lines; and columns of a Lance dataset in a bucket, compared with
pylance. All is cold: new processes and new connections."""
import contextlib
import functools
import json
import os
import subprocess
import time

from .lance import made, peer as find_pylance
from .mount import Mount, most_memory, read_whole
from .peers import HERE, python_peer
from .rounds import take_turns
from .servers import BUCKET, bucket, slow_line, web, xrootd

FILE = "clusters-zstd"
CLUSTERS, ROUND_TRIPS = 8, (20, 100)
COLUMNS = {"one column": ["field7"], "five columns": [f"field{number}" for number in range(7, 57, 10)],
           "60 columns": [f"field{number}" for number in range(60)]}
OPEN, VALUE, VALUE_AGAIN = "open", "one value", "another value, warm"
REQUESTS, AGAIN, BEYOND = "requests", "requests of a second read", "bytes beyond the wanted"
RATE, MEMORY = "MB/s", "memory"
CACHE_BYTES = 128 << 20
LANCE, FRAGMENTS, ROWS = "wide-lance", 8, 45_400  # 87 MB
OF_LANCE = "Lance, "


def timed_process(*command):
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def use(build):
    """The network helper of the build."""
    os.environ["NTUPLE_FETCH"] = str(build.directory / "ntuplefs-fetch")


def read_columns(build, server, url, what, stored):
    """Run a process to its end. Returns its seconds, and the requests and bytes that the server
    counts."""
    use(build)
    server.requests()
    seconds = timed_process(build.tool("read_columns"), url, ",".join(COLUMNS[what]), "2", "1")
    asked = server.requests()
    found = {what: seconds, f"{what}: {REQUESTS}": len(asked)}
    if stored:
        found |= {f"{what}: {BEYOND}": sum(sent for _, sent in asked) / stored - 1,
                  f"{what}: {RATE}": stored / seconds / 1e6}
    return build.named(found)


def open_file(build, url):
    use(build)
    return build.named({OPEN: timed_process(build.ntuple, "ls", url, "/")})


def value_at(path, share):
    """Seconds to read four bytes in the middle of a page."""
    file = os.open(path, os.O_RDONLY)
    try:
        at = int(os.fstat(file).st_size * share) // 4 * 4
        start = time.perf_counter()
        os.pread(file, 4, at)
        return time.perf_counter() - start
    finally:
        os.close(file)


def fetcher_memory(mount):
    """The memory of the network helper, which is no child of this process."""
    found = 0
    for process in os.listdir("/proc"):
        with contextlib.suppress(OSError, ValueError):
            with open(f"/proc/{int(process)}/environ", "rb") as file:
                is_ours = f"{MARK}={mount}".encode() in file.read().split(b"\0")
            if is_ours and os.path.basename(os.readlink(f"/proc/{process}/exe")) == "ntuplefs-fetch":
                found = max(found, most_memory(int(process)))
    return found


MARK = "NTUPLE_BENCH"


def through_mount(build, server, url):
    """One value in the middle of a column, another one, a whole column twice, and the memory of
    all processes."""
    use(build)
    os.environ[MARK] = str(id(server))
    with Mount(build.ntuplefs, url) as mount:
        first, other, column = (mount.files(name)[0] for name in ("field3", "field5", "field7"))
        server.requests()
        found = {VALUE: value_at(first, 0.45)}
        found[f"{VALUE}: {REQUESTS}"] = len(server.requests())
        found[VALUE_AGAIN] = value_at(other, 0.45)
        found["mount, one column"] = read_whole(column)
        server.requests()
        read_whole(column)
        found[AGAIN] = len(server.requests())
        for name in COLUMNS["60 columns"]:
            read_whole(mount.files(name)[0])
        found[MEMORY] = fetcher_memory(id(server)) + mount.stats()["remote_kept_bytes"]
        return build.named(found)


def read_by_peer(command, name, url, what):
    """Opening and reading, without the start of the process."""
    done = subprocess.run([*command, url, ",".join(COLUMNS[what])], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, timeout=120)
    if done.returncode:
        return {}
    opened, read = map(float, done.stdout.split())
    return {f"{name}: {what}": opened + read, f"{name}: {OPEN}": opened}


def peers(arguments, near):
    """(name, command, URL) of the installed readers, each with a server that it can read from."""
    if not arguments.peers:
        return []
    addresses = {"http": f"http://127.0.0.1:{near['http']}/{FILE}.root", "root": near.get("root")
                 and f"root://127.0.0.1:{near['root']}//{FILE}.root"}
    found = [("uproot", "uproot", addresses["http"]), ("ROOT", "root", addresses["root"])]
    return [(name, [python_peer({"root": "rdataframe"}.get(peer, peer))[0], HERE / "remote_peer.py", peer],
             address) for name, peer, address in found
            if address and python_peer({"root": "rdataframe"}.get(peer, peer))]


def stored_bytes(build, path):
    """{what: bytes of its pages}"""
    reported = subprocess.run([build.ntuple, "cat", path, "layout.jsonl"], stdout=subprocess.PIPE,
                          check=True).stdout
    pages = [line for line in map(json.loads, filter(None, reported.splitlines()))
             if line["owner"] in ("page", "checksum")]
    return {what: sum(page["stored_bytes"] for page in pages if page["field"] in names) for what,
            names in COLUMNS.items()}


def groups_of(arguments, server, near, stored):
    url = f"http://127.0.0.1:{near['http']}/{FILE}.root"
    builds = arguments.builds
    groups = [[functools.partial(open_file, build, url) for build in builds],
              [functools.partial(through_mount, build, server, url) for build in builds]]
    for what in COLUMNS:
        groups.append([functools.partial(read_columns, build, server, url, what, stored[what])
                       for build in builds])
        if what != "60 columns":
            groups += [[functools.partial(read_by_peer, command, name, address, what)] for name, command,
                       address in peers(arguments, near)]
    return groups


def lance_groups(arguments, server, port):
    """A program that reads columns includes the start of the process; pylance's time does not."""
    os.environ |= {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}", "AWS_ACCESS_KEY_ID": "any",
                   "AWS_SECRET_ACCESS_KEY": "any", "AWS_DEFAULT_REGION": "us-east-1"}
    url, groups = f"s3://{BUCKET}/{LANCE}.lance", []
    reader = find_pylance(arguments)
    for what in COLUMNS:
        groups.append([functools.partial(read_columns, build, server, f"{url}/", what, None)
                       for build in arguments.builds])
        if reader:
            groups[-1].append(functools.partial(read_by_peer, [reader[0], HERE / "remote_peer.py", "pylance"],
                                                "pylance", url, what))
    return groups


def measure_lance(arguments, folder, results, save):
    state, bucket_folder = folder / "bucket", folder / "objects"
    state.mkdir()
    bucket_folder.mkdir()
    made(bucket_folder, LANCE, "wide", "2.1", FRAGMENTS, ROWS)
    with bucket(bucket_folder, state) as server:
        for milliseconds in ROUND_TRIPS if server else ():
            with slow_line(arguments.builds[0].tool("slow_line"), server.port, milliseconds) as port:
                results["remote"][f"{OF_LANCE}{milliseconds} ms"] = take_turns(
                    lance_groups(arguments, server, port), arguments.rounds)
            save()


def measure(arguments, folder, results, save):
    if find_pylance(arguments) and arguments.only in LANCE:
        measure_lance(arguments, folder, results, save)
    if arguments.only not in FILE:
        return
    state = folder / "servers"
    state.mkdir()
    stored = stored_bytes(arguments.builds[0], arguments.data / f"{FILE}.root")
    with web(arguments.data, state) as server, xrootd(arguments.data) as other:
        if not server:
            print("remote: nginx is not installed, or does not run here")
            return
        for milliseconds in ROUND_TRIPS:
            line = functools.partial(slow_line, arguments.builds[0].tool("slow_line"),
                                     milliseconds=milliseconds)
            with line(server.port) as http, line(other) if other else contextlib.nullcontext() as root:
                groups = groups_of(arguments, server, {"http": http, "root": root}, stored)
                results["remote"][f"{milliseconds} ms"] = take_turns(groups, arguments.rounds)
            save()
