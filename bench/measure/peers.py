# SPDX-License-Identifier: MIT
"""Other readers, as far as they are installed, and older commits of this one."""
import importlib.util
import pathlib
import shutil
import subprocess
import sys

from .machine import build_option, commit_of, output_of

HERE = pathlib.Path(__file__).resolve().parent.parent


def compile_with_root(source, folder):
    """A program of ours that calls ROOT, compiled against the Python package "root"; None where that is not possible."""
    package = importlib.util.find_spec("ROOT")
    if not package or not shutil.which("g++"):
        return None
    root, target = pathlib.Path(package.origin).parent, folder / pathlib.Path(source).stem
    command = ["g++", "-std=c++17", "-O2", f"-I{root}/include", HERE / source, "-o", target,
               f"-L{root}/lib", f"-Wl,-rpath,{root}/lib", "-lROOTNTuple", "-lCore", "-lRIO"]
    return target if subprocess.run(command, stderr=subprocess.DEVNULL).returncode == 0 else None


def python_peer(name):
    """The command of a Python peer, or None where it is not installed."""
    if not importlib.util.find_spec({"rdataframe": "ROOT"}.get(name, name)):
        return None
    return [sys.executable, HERE / "python_peer.py", name]


def jsroot_peer():
    """JSROOT's command where node finds the package from here or along NODE_PATH, or None."""
    find = "require('module').createRequire(process.cwd() + '/').resolve('jsroot/io')"
    return ["node", HERE / "jsroot_peer.mjs"] if output_of("node", "-p", find) else None


def build_commit(commit, like, folder):
    """The mount program of another commit of this repository, built as `like` was; and that commit's number."""
    number = commit_of(HERE, commit)
    if not number:
        sys.exit(f"--against: {commit} is no commit of {HERE.parent}")
    source, build = folder / "source", folder / "build"
    source.mkdir()
    with subprocess.Popen(["git", "-C", HERE.parent, "archive", commit], stdout=subprocess.PIPE) as archive:
        subprocess.run(["tar", "x", "-C", source], stdin=archive.stdout, check=True)
    kind = f"-Dbuildtype={build_option(like, 'buildtype') or 'release'}"
    for command in (["meson", "setup", build, source, "-Dtests=false", kind], ["ninja", "-C", build, "ntuplefs"]):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            sys.exit(f"--against: {commit} does not build:\n" + "\n".join(done.stdout.splitlines()[-10:]))
    return build / "ntuplefs", number
