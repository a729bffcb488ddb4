# SPDX-License-Identifier: MIT
"""Many files at once: a directory with a million other files, chains of files with 2,000 fields, and on a
server a chain whose index exists, and the listing of a file. All is cold: new processes."""
import functools
import os
import shutil
import subprocess
import sys
import time

from .mount import Mount, timed
from .remote import REQUESTS, use
from .rounds import take_turns
from .servers import slow_line, web

FILE = "clusters-zstd"
OTHERS, FIELDS, ENTRIES, ROUND_TRIP = 1_000_000, 2000, 20, 20
SERVED_FIELDS, SERVED_ENTRIES = 8, 20_000
FOLDER, SERVED = f"a directory of {OTHERS:,} other files", f"a server, {ROUND_TRIP} ms"
WIDE = {f"a chain of {files:,} files of {FIELDS:,} fields": files for files in (1000, 10_000)}
SERVED_FILES = 1000
MEMORY, ROUNDS = "memory", 3
WRITE = """
import sys
import numpy, uproot
fields = [f"field{number}" for number in range(int(sys.argv[2]))]
with uproot.recreate(sys.argv[1]) as file:
    values = numpy.arange(int(sys.argv[3]), dtype="f4")
    file.mkrntuple("data", dict.fromkeys(fields, "float32")).extend(dict.fromkeys(fields, values))
"""


def write_wide(folder, files, fields=FIELDS, entries=ENTRIES):
    folder.mkdir()
    first = folder / "run00000.root"
    subprocess.run([sys.executable, "-c", WRITE, first, str(fields), str(entries)], check=True)
    for number in range(1, files):
        shutil.copyfile(first, folder / f"run{number:05}.root")


def write_others(folder):
    folder.mkdir()
    for number in range(OTHERS):
        (folder / f"{number}.log").write_bytes(b"nothing to be seen here\n")


def read_value(path):
    """Four bytes amid a file, without the kernel's readahead, which would read other files, too."""
    file = os.open(path, os.O_RDONLY)
    try:
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_RANDOM)
        os.pread(file, 4, os.fstat(file).st_size // 10_000 * 4517 // 4 * 4)
    finally:
        os.close(file)


def list_folder(build, folder):
    with Mount(build.ntuplefs, folder) as mount:
        return build.named({"mount": mount.seconds, "first ls": timed(os.listdir, mount.point),
                            MEMORY: mount.memory()})


def read_wide(build, folder):
    with Mount(build.ntuplefs, folder / "*.root", ("-o", "chain")) as mount:
        [file] = mount.files("field7")
        found = {"first size": timed(os.stat, file), "a value": timed(read_value, file)}
        return build.named(found | {MEMORY: mount.memory()})


def make_index(build, files, folder):
    """Each build has its own."""
    use(build)
    index = folder / f"index{id(build)}.jsonl"
    with Mount(build.ntuplefs, files, ("-o", f"chain,index={index}")) as mount:
        os.stat(mount.files("field7")[0])
        while not index.exists():
            time.sleep(0.1)
    return index


def counted(server, what, function, *arguments):
    server.requests()
    seconds = timed(function, *arguments)
    return {what: seconds, f"{what}: {REQUESTS}": len(server.requests())}


def read_served(build, server, files, index, selected):
    use(build)
    options = f"chain,index={index}"
    with Mount(build.ntuplefs, files, ("-o", options)) as mount:
        [file] = mount.files("field7")
        os.stat(file)
        found = counted(server, "a value", read_value, file)
    with Mount(build.ntuplefs, files, ("-o", f"{options},select={selected}")) as mount:
        [file] = mount.files("field7")
        return build.named(found | counted(server, "1 % of the entries, in a run", file.read_bytes))


def list_served(build, server, url):
    use(build)
    found = {}
    with Mount(build.ntuplefs, url) as mount:
        for command in (("ls", "-lR"), ("du", "-a")):
            run = functools.partial(subprocess.run, stdout=subprocess.DEVNULL, check=True)
            found |= counted(server, " ".join(command), run, [*command, mount.point / mount.dataset])
    return build.named(found)


def measure_served(arguments, folder, results):
    served, state, selected = folder / "served", folder / "state", folder / "selected.txt"
    state.mkdir()
    write_wide(served, SERVED_FILES, SERVED_FIELDS, SERVED_ENTRIES)
    shutil.copy(arguments.data / f"{FILE}.root", served / "columns.root")
    entries, first = SERVED_ENTRIES * SERVED_FILES // 100, SERVED_ENTRIES * SERVED_FILES // 2
    selected.write_text("".join(f"{entry}\n" for entry in range(first, first + entries)))
    with web(served, state) as server:
        if not server:
            print("scale: nginx is not installed, or does not run here")
            return
        with slow_line(arguments.builds[0].tool("slow_line"), server.port, ROUND_TRIP) as port:
            url, files = f"http://127.0.0.1:{port}", folder / "files.txt"
            files.write_text("".join(f"{url}/run{number:05}.root\n" for number in range(SERVED_FILES)))
            indexes = [make_index(build, files, folder) for build in arguments.builds]
            results["scale"][SERVED] = take_turns(
                [[functools.partial(read_served, build, server, files, index, selected)
                  for build, index in zip(arguments.builds, indexes)],
                 [functools.partial(list_served, build, server, f"{url}/columns.root")
                  for build in arguments.builds]], min(arguments.rounds, ROUNDS))


def measure(arguments, folder, results, save):
    made = folder / "many"
    cases = {FOLDER: (write_others, list_folder)} | {
        name: (functools.partial(write_wide, files=files), read_wide) for name, files in WIDE.items()}
    for name, (write, read) in cases.items():
        if arguments.only in name:
            write(made)
            results["scale"][name] = take_turns(
                [[functools.partial(read, build, made) for build in arguments.builds]],
                min(arguments.rounds, ROUNDS))
            save()
            shutil.rmtree(made)
    if arguments.only in FILE:
        measure_served(arguments, folder, results)
        save()
