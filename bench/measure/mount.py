# SPDX-License-Identifier: MIT
"""A mount to measure, and functions that read its files."""
import json
import mmap
import os
import pathlib
import subprocess
import sys
import tempfile
import time

MEBIBYTE = 1 << 20
POLL_SECONDS = 0.0002
MOUNT_SECONDS, END_SECONDS = 60, 10
CPUCLOCK_SCHED = 2  # of clock_getcpuclockid: the CPU time of all threads of a process
buffer = bytearray()


def destination(size):
    """Memory whose pages are already mapped."""
    global buffer
    if len(buffer) < size:
        buffer = bytearray(b"\1") * size
    return memoryview(buffer)[:size]


def use_memory(size):
    """Allocate as much memory and free it. The host of a virtual machine takes unused memory
    back, and returns it at a tenth of the speed. Readers that are timed in a later pass have
    their memory by then; a fresh mount needs the same."""
    bytearray(b"\1") * size


def read_into(path, memory, piece=None):
    """Read a file into memory: in pieces like dd, or in calls as large as the kernel allows."""
    file = os.open(path, os.O_RDONLY)
    done = 0
    while done < len(memory):
        got = os.readv(file, [memory[done:done + piece] if piece else memory[done:]])
        if not got:
            raise EOFError(path)
        done += got
    os.close(file)


def read_whole(path, piece=None):
    """Seconds to read a file into memory."""
    memory = destination(os.path.getsize(path))
    start = time.perf_counter()
    read_into(path, memory, piece)
    return time.perf_counter() - start


def read_pieces(path):
    return read_whole(path, MEBIBYTE)


def sum_mapping(path):
    """Seconds to map a file and to sum its bytes as integers."""
    import numpy
    start = time.perf_counter()
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapping:
        words = numpy.frombuffer(mapping, "<u4", count=len(mapping) // 4)
        words.sum()
        del words
    return time.perf_counter() - start


def timed(function, *arguments):
    start = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - start


def most_memory(process):
    """The peak memory of a process in bytes."""
    status = pathlib.Path(f"/proc/{process}/status").read_text().splitlines()
    [line] = [line for line in status if line.startswith("VmHWM")]
    return 1024 * int(line.split()[1])


def end(process, seconds=END_SECONDS):
    """Wait for a process to end. If it does not end, send SIGTERM, then SIGKILL: a daemon whose
    mount also exists in another mount namespace does not notice that it was unmounted here."""
    for insist in (process.terminate, process.kill):
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            print(f"{process.args[0]} (process {process.pid}) did not end within {seconds} s",
                  file=sys.stderr)
            insist()
    return process.wait()


def decoder_of(process):
    """The child that decodes; the process itself for programs that have no child."""
    children = pathlib.Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return int(children[0]) if children else process


class Mount:
    """A daemon of its own, from the start of its process to the end of the with block."""
    dataset = "data"

    def __init__(self, program, source, options=()):
        self.point = pathlib.Path(tempfile.mkdtemp(prefix="ntuplefs-bench-"))
        start = time.perf_counter()
        self.log = tempfile.TemporaryFile("w+")  # The log does not report mounts and unmounts.
        self.process = subprocess.Popen([program, "-f", *options, source, self.point], stderr=self.log)
        while not (self.point / ".ntuplefs").exists():
            is_late = time.perf_counter() - start > MOUNT_SECONDS
            if is_late:
                self.process.terminate()
            if is_late or self.process.poll() is not None:
                self.log.seek(0)
                sys.exit(f"{program} did not mount {source}: {self.log.read()}")
            time.sleep(POLL_SECONDS)
        self.seconds = time.perf_counter() - start
        self.decoder = decoder_of(self.process.pid)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        subprocess.run(["fusermount3", "-u", self.point], check=True)
        end(self.process)
        self.log.close()
        self.point.rmdir()

    def files(self, field):
        """The data of a field, or of all fields. Columns as stored have the same bytes, so they
        are not read."""
        root = self.point / self.dataset
        if field != "*":
            return [root / field / "data.bin"]
        found = []
        for folder, folders, names in os.walk(root):
            folders[:] = [name for name in folders if not name.startswith("column.")
                          and not name.endswith(".d")]
            found += [pathlib.Path(folder) / name for name in names if name.endswith(".bin")
                      and folder != str(root)]
        return found

    def set_readahead(self, kibibytes=256):
        """Sets the kernel's readahead, by default as ntuplefs does. False: only root may."""
        device = self.point.stat().st_dev
        limit = pathlib.Path(f"/sys/class/bdi/{os.major(device)}:{os.minor(device)}/read_ahead_kb")
        if not os.access(limit, os.W_OK):
            return False
        limit.write_text(str(kibibytes))
        return True

    def stats(self):
        return json.loads((self.point / ".ntuplefs" / "stats.json").read_text())

    def pages_decoded(self):
        return self.stats()["pages_decoded"]

    def processor_seconds(self):
        return time.clock_gettime((~self.decoder << 3) | CPUCLOCK_SCHED)

    def memory(self):
        return most_memory(self.decoder)
