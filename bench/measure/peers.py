# SPDX-License-Identifier: MIT
"""Other readers, if they are installed."""
import importlib.util
import pathlib
import shutil
import subprocess
import sys

from .machine import output_of

HERE = pathlib.Path(__file__).resolve().parent.parent


def compile_with_root(source, folder):
    """A program of ours that calls ROOT, compiled against the Python package "root"; None if
    that fails."""
    package = importlib.util.find_spec("ROOT")
    if not package or not shutil.which("g++"):
        return None
    root, target = pathlib.Path(package.origin).parent, folder / pathlib.Path(source).stem
    command = ["g++", "-std=c++17", "-O2", f"-I{root}/include", HERE / source, "-o", target,
               f"-L{root}/lib", f"-Wl,-rpath,{root}/lib,--allow-shlib-undefined", "-lROOTNTuple", "-lTree",
               "-lTreePlayer", "-lCore", "-lRIO", "-pthread"]
    return target if subprocess.run(command, stderr=subprocess.DEVNULL).returncode == 0 else None


def python_peer(name):
    """The command of a Python peer, or None if it is not installed."""
    if not importlib.util.find_spec({"rdataframe": "ROOT"}.get(name, name)):
        return None
    return [sys.executable, HERE / "python_peer.py", name]


def jsroot_peer():
    """JSROOT's command if node finds the package from here or along NODE_PATH, else None."""
    find = "require('module').createRequire(process.cwd() + '/').resolve('jsroot/io')"
    return ["node", HERE / "jsroot_peer.mjs"] if output_of("node", "-p", find) else None
