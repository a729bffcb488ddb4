# SPDX-License-Identifier: MIT
"""Files of a random TTree: the problems of the tree of one, whose values are in X.json next to
X.root."""
import json

from cases import problems_of_copy
from rntuple_files import arrow_differs
from tree_values import compare_trees, dataset_of


def rows_differ(dataset, entries):
    """rows.jsonl has a line for each entry, which is an object."""
    lines = (dataset / 'rows.jsonl').read_text(errors='surrogateescape').split('\n')[:-1]
    if len(lines) != entries or not all(isinstance(json.loads(line), dict) for line in lines):
        return [f'rows.jsonl: {len(lines)} lines instead of {entries}']
    return []


def problems(ntuple, path, *options):
    """The differences between the mounted tree of a file and what was written."""
    def compare(copy):
        found = []
        compare_trees(path.with_suffix('.json'), copy, lambda what, error: found.append(f'{what}: {error}')
                      if error else None)
        for tree in json.loads(path.with_suffix('.json').read_text())['trees']:
            dataset = dataset_of(copy, tree['path'])
            found += rows_differ(dataset, tree['entries']) + arrow_differs(dataset / 'table.arrow', tree)
        return found

    return problems_of_copy(ntuple, path, compare, *options)


def save(path, trees):
    """X.json of {path of a tree: (entries, {branch: values})}."""
    document = {'trees': [{'path': name, 'entries': entries,
                           'branches': [{'name': branch, 'values': form} for branch, form in values.items()]}
                          for name, (entries, values) in trees.items()]}
    path.with_suffix('.json').write_text(json.dumps(document))
