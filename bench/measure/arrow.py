# SPDX-License-Identifier: MIT
"""Pages that queries of 3 of 60 columns through table.arrow decode, for each page of these columns:
with the mount's own readahead in the kernel, and without readahead. Only root may change it."""
import functools
import importlib.util
import subprocess
import sys

from .mount import Mount, read_whole
from .peers import HERE
from .rounds import take_turns
from .servers import web

FILE = "clusters-zstd"
COLUMNS = ("field7", "field17", "field27")
PROGRAMS = ("pyarrow", "polars", "duckdb")
OWN, NONE = "the mount's readahead", "no readahead"
BASE, SECONDS, SIZE = "data.bin", "seconds", "bytes of table.arrow / of its columns"


def count_columns(build, source):
    """The pages of the columns, each decoded once, and the size of the file."""
    with Mount(build.ntuplefs, source) as mount:
        data = mount.point / mount.dataset
        for name in COLUMNS:
            read_whole(data / name / "data.bin")
        pages = mount.pages_decoded()
        size = (data / "table.arrow").stat().st_size
        columns = sum(file.stat().st_size for file in mount.files("*"))
        return build.named({BASE: pages, SIZE: size / columns})


def query(build, source, program, readahead):
    with Mount(build.ntuplefs, source) as mount:
        if readahead == NONE and not mount.set_readahead(0):
            return {}
        before = mount.pages_decoded()
        done = subprocess.run([sys.executable, HERE / "arrow_query.py", program,
                               mount.point / mount.dataset / "table.arrow", ",".join(COLUMNS)],
                              stdout=subprocess.PIPE, text=True, check=True)
        what = f"{program}, {readahead}"
        return build.named({what: mount.pages_decoded() - before, f"{what}: {SECONDS}": float(done.stdout)})


def measure(arguments, folder, results, save):
    if arguments.only not in FILE:
        return
    state = folder / "arrow"
    state.mkdir()
    programs = [program for program in PROGRAMS if importlib.util.find_spec(program)]
    with web(arguments.data, state) as server:
        sources = {"local": arguments.data / f"{FILE}.root"}
        if server:
            sources["http"] = f"http://127.0.0.1:{server.port}/{FILE}.root"
        for where, source in sources.items():
            groups = [[functools.partial(count_columns, build, source) for build in arguments.builds]]
            groups += [[functools.partial(query, build, source, program, readahead)
                        for build in arguments.builds] for program in programs for readahead in (OWN, NONE)]
            results["arrow"][where] = take_turns(groups, arguments.rounds)
            save()
