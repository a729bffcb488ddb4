# SPDX-License-Identifier: MIT
"""Checks of every source file: which files these are, and a case for each."""

FOLDERS = 'src', 'include', 'tests', 'python', 'bench', 'examples', 'scripts', 'packaging'
ENDINGS = {'.c', '.h', '.hpp', '.cc', '.cxx', '.hxx', '.py', '.pyi', '.build', '.in', '.sh'}


def is_script(path):
    """Scripts have no ending, but a first line that names their interpreter."""
    with open(path, 'rb') as file:
        return not path.suffix and file.read(2) == b'#!'


def source_files(root, more_folders=(), more_endings=()):
    """The sources: C, C++, Meson, Python, shell."""
    endings = ENDINGS.union(more_endings)
    for folder in (*FOLDERS, *more_folders):
        for path in sorted((root / folder).rglob('*')):
            if path.is_file() and (path.suffix in endings or is_script(path)):
                yield path
    yield from sorted(root.glob('meson*'))


def check_files(root, files, problems):
    """Print what `problems(text)` yields for each file. Returns the exit status."""
    passed = failed = 0
    for path in files:
        found = list(problems(path.read_text()))
        for problem in found:
            print(f'{path.relative_to(root)}:{problem}')
        failed += bool(found)
        passed += not found
    print(f'{passed} passed, {failed} failed')
    return 1 if failed or not passed else 0
