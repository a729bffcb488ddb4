# SPDX-License-Identifier: MIT
"""TTrees compared with ROOT and uproot, in turns: whole branches of numbers, arrays with a
counter and vectors; the first numpy.fromfile of a column through the mount; opening a tree of
1,000 branches; a column of lists of a file on a server. The last pass of a reader counts. Reads
through a mount or from a server are first reads; ROOT's first pass of a process stands beside the mount's.
"""
import functools
import os
import subprocess
import sys
import tempfile

from . import remote
from .lance import KEEP_MEMORY
from .mount import Mount, timed, use_memory
from .peers import HERE, compile_with_root, python_peer
from .rounds import take_turns
from .servers import slow_line, web

COMPRESSIONS = ["zlib", "lz4", "zstd", "lzma"]
SHAPES = {"flat": [f"flat{number}" for number in range(30)],
          "counted": [f"counted{number}" for number in range(15)],
          "vectors": [f"vector{number}" for number in range(15)]}
FILE = (1_000_000, *map(len, SHAPES.values()))  # entries, and branches of each shape
WIDE = "ttree-branches-zstd", ("zstd", 20_000, 500, 399, 100)
FIRST = {"flat": "flat499", "counted": "counted398", "vectors": "vector99"}
PASSES = 3
LIBRARY, CODEC, MOUNT, UPROOT = "library", "codec alone", "mount, numpy.fromfile", "uproot"
WAYS = {"bulk": "ROOT, GetBulkRead", "reader": "ROOT, TTreeReader", "entry": "ROOT, GetEntry"}
ROOT_OPEN, IN_NEW_PROCESS = "ROOT", ", first in a process"
REMOTE_FILE, ROUND_TRIP = "ttree-zstd", 20


def made(folder, name, *arguments):
    """The file, which is created if it is missing."""
    path = folder / f"{name}.root"
    if not path.exists():
        compression, *numbers = arguments
        with tempfile.TemporaryDirectory(dir=folder) as unfinished:
            output = f"{unfinished}/{path.name}"
            subprocess.run([sys.executable, HERE / "make_ttree.py", compression, output, *map(str, numbers)],
                           check=True)
            os.rename(output, path)
    return path


def passes(name, *command):
    """[seconds of each pass] of a program that prints a number and them; empty if it fails."""
    result = subprocess.run([*map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            stdin=subprocess.DEVNULL,
                            env=os.environ | KEEP_MEMORY)
    if result.returncode:
        print(f"{name} fails: {result.stderr.splitlines()[-1:]}", file=sys.stderr)
        return []
    return [float(word) for word in result.stdout.split()[1:]]


def last_pass(name, *command):
    return {name: seconds for seconds in passes(name, *command)[-1:]}


def first_and_last(name, *command):
    found = passes(name, *command)
    return {name: found[-1], name + IN_NEW_PROCESS: found[0]} if found else {}


def peers(arguments, folder):
    """ROOT's program and uproot's command; None if they are not installed or not requested."""
    if not arguments.peers:
        return None, None
    is_there = python_peer("uproot")
    return compile_with_root("root_ttree.cxx", folder), [sys.executable,
                                                         HERE / "ttree_peer.py"] if is_there else None


def peer_groups(arguments, programs, path, shape, names):
    root, uproot = programs
    if root:
        yield from ([functools.partial(first_and_last, name, root, path, way, ",".join(names),
                                       arguments.threads, PASSES)]
                    for way, name in WAYS.items() if way != "bulk" or shape != "vectors")
    if uproot:
        yield [functools.partial(last_pass, UPROOT, *uproot, "read", path, ",".join(names),
                                 arguments.threads, PASSES)]


# ---- whole columns ----

def size_of(arguments, path, names):
    command = [arguments.builds[0].tool("read_columns"), path, ",".join(names), "1", "1"]
    return int(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.split()[0])


def own_group(arguments, tool, name, path, names):
    return [functools.partial(last_pass, build.prefix + name, build.tool(tool), path, ",".join(names),
                              arguments.threads, PASSES)
            for build in arguments.builds]


def speeds(size, rounds):
    return [{what: size / seconds for what, seconds in found.items()} for found in rounds]


def measure_whole(arguments, programs, path, shape):
    names = SHAPES[shape]
    groups = [own_group(arguments, "read_columns", LIBRARY, path, names),
              own_group(arguments, "decompress_baskets", CODEC, path, names)[:1],
              *peer_groups(arguments, programs, path, shape, names)]
    return speeds(size_of(arguments, path, names), take_turns(groups, arguments.rounds))


# ---- a column through the mount ----

def from_files(build, path, name, shape, size):
    """The arrays and the kernel's cache of the files take new memory. Meanwhile the size of a
    file of items is computed."""
    import numpy
    with Mount(build.ntuplefs, path) as mount:
        folder = mount.point / mount.dataset / name
        files = [folder / "data.bin"] if shape == "flat" else [folder / "offsets.bin",
                                                               folder / "item" / "data.bin"]
        use_memory(2 * size)
        return build.named({MOUNT: sum(timed(numpy.fromfile, file, "<u1") for file in files)})


def measure_column(arguments, programs, path, shape):
    [name] = SHAPES[shape][:1]
    size = size_of(arguments, path, [name])
    groups = [[functools.partial(from_files, build, path, name, shape, size) for build in arguments.builds],
              own_group(arguments, "read_columns", LIBRARY, path, [name]),
              *peer_groups(arguments, programs, path, shape, [name])]
    return speeds(size, take_turns(groups, arguments.rounds))


# ---- opening ----

def measure_open(arguments, programs, path, name):
    root, uproot = programs
    groups = [[functools.partial(first_and_last, build.prefix + LIBRARY, build.tool("first_value"), path,
                                 name, arguments.threads, PASSES)
               for build in arguments.builds]]
    if root:
        groups.append([functools.partial(first_and_last, ROOT_OPEN, root, path, "open", name,
                                         arguments.threads, PASSES)])
    if uproot:
        groups.append([functools.partial(first_and_last, UPROOT, *uproot, "open", path, name, PASSES)])
    return take_turns(groups, arguments.rounds)


# ---- a file on a server ----

def read_remote(build, url, name):
    """Run a process to its end."""
    remote.use(build)
    return build.named({LIBRARY: remote.timed_process(build.tool("read_columns"), url, name, "2", "1")})


def measure_remote(arguments, programs, folder, name):
    """Empty if no server is installed."""
    state = folder / f"server-{name}"
    state.mkdir()
    with web(arguments.data, state) as server:
        if not server:
            print("ttree: nginx is not installed, or does not run here")
            return []
        with slow_line(arguments.builds[0].tool("slow_line"), server.port, ROUND_TRIP) as port:
            url = f"http://127.0.0.1:{port}/{REMOTE_FILE}.root"
            groups = [[functools.partial(read_remote, build, url, name) for build in arguments.builds]]
            if programs[1]:
                groups.append([functools.partial(last_pass, UPROOT, *programs[1], "remote", url, name)])
            return take_turns(groups, arguments.rounds)


# ---- all ----

def measure(arguments, folder, results, save):
    found = results["ttree"]
    found |= {"whole": {}, "column": {}, "open": {}, "remote": {}}
    programs = peers(arguments, folder)
    for compression in COMPRESSIONS:
        name = f"ttree-{compression}"
        for shape in SHAPES if arguments.only in name else ():
            path = made(arguments.data, name, compression, *FILE)
            found["whole"][f"{shape} {compression}"] = measure_whole(arguments, programs, path, shape)
            found["column"][f"{shape} {compression}"] = measure_column(arguments, programs, path, shape)
            save()
    for shape, name in FIRST.items() if arguments.only in WIDE[0] else ():
        found["open"][shape] = measure_open(arguments, programs, made(arguments.data, WIDE[0], *WIDE[1]),
                                            name)
        save()
    for shape in ("counted", "vectors") if arguments.only in REMOTE_FILE else ():
        made(arguments.data, REMOTE_FILE, "zstd", *FILE)
        found["remote"][shape] = measure_remote(arguments, programs, folder, SHAPES[shape][0])
        save()
