# SPDX-License-Identifier: MIT
"""Chains of files for tests: making the files, mounting them as one, and the expected contents."""
import json
import shutil

import numpy as np

from harness import data, lines, mounted, need, ntuplefs, same, scratch


def copies(directory, name, count=3):
    """Files with the same content; a chain has no file twice."""
    source = data(name)
    paths = [directory / f'run{i}{source.suffix}' for i in range(count)]
    for path in paths:
        shutil.copy(source, path)
    return paths


def chain(*sources, options=(), env=None, reported=''):
    return mounted(*sources, options=('-o', 'chain', *options), env=env, reported=reported)


def files_below(directory, pattern):
    return sorted(path.relative_to(directory) for path in directory.rglob(pattern)
                  if not path.match('column.*/pages/*'))


def at(tree, path):
    """The path in the tree of one file for a path in the chain's tree. There, a field's only
    item may have another name."""
    for name in path.parts:
        items = [item for item in tree.iterdir() if item.is_dir()
                 and not item.name.startswith('column.')] if not (tree / name).exists() else []
        tree = items[0] if len(items) == 1 else tree / name
    return tree


def joined(trees, path):
    """The expected content of a chain's logical file: end offsets continue those of the file
    before."""
    found = [np.load(at(tree, path)) for tree in trees]
    if path.name == 'offsets.npy':
        starts = np.cumsum([0] + [array[-1] for array in found])
        return np.concatenate([found[0][:1]] + [array[1:] + start for array, start in zip(found, starts)])
    if path.name == 'index.npy':  # the row of an item among those of its alternative
        tags = [np.load(at(tree, path.with_name('tags.npy'))) for tree in trees]
        before, out = {}, []
        for array, tag in zip(found, tags):
            out.append(array + np.array([before.get(t, 0) for t in tag], array.dtype))
            for t in np.unique(tag[tag > 0]):  # 0: no alternative
                before[t] = before.get(t, 0) + int((tag == t).sum())
        return np.concatenate(out)
    return np.concatenate(found)


def compare(trees, whole):
    """Compares all logical files of all datasets, and their lines; returns how many."""
    paths = [path for path in files_below(whole, '*.npy') if not path.parent.name.startswith('column.')]
    for path in paths:
        expected, found = joined(trees, path), np.load(whole / path)
        same((found.dtype, found.shape), (expected.dtype, expected.shape), path)
        assert found.tobytes() == expected.tobytes(), f'{path}: other bytes'
    for path in files_below(whole, 'ntuple.json'):
        directory = path.parent
        rows = [(tree / directory / 'rows.jsonl').read_bytes() for tree in (whole, *trees)]
        # files may have their fields in another order
        assert rows[0] == b''.join(rows[1:]) or lines(whole / directory / 'rows.jsonl') == [
            line for tree in trees for line in lines(tree / directory / 'rows.jsonl')], directory
        same(json.loads((whole / path).read_text())['entries'],
             sum(json.loads((tree / path).read_text())['entries'] for tree in trees), directory)
    return len(paths)


def by_uproot(path, name, schema, *clusters):
    """Another writer stores fields in other columns than ROOT does, and adds none later."""
    uproot, arrays = need('uproot'), need('awkward')
    # each type once: to parse one takes a millisecond
    types = {text: arrays.types.from_datashape(text, highlevel=False) for text in set(schema.values())}
    record = arrays.types.RecordType([types[text] for text in schema.values()], list(schema))
    with uproot.recreate(path) as file:
        ntuple = file.mkrntuple(name, record)
        for cluster in clusters:
            columns = {field: arrays.Array(values) for field, values in cluster.items()}
            if 'list' in columns:
                columns['list'] = arrays.values_astype(columns['list'], np.float32)
            ntuple.extend(columns)
    return path


def refusal(*sources, options=()):
    """The message for a chain that is not mounted."""
    with scratch() as directory:
        result = ntuplefs('-o', 'chain', *options, *sources, directory / 'mnt')
        assert result.returncode, sources
        return result.stderr.decode()
