#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare the model of foreign RNTuple files with the values of other readers.

    check_rntuple_model.py DUMP FOLDER...

DUMP is the program dump_model. Each directory holds files with their expected values, X.root and
X.json.
"""
import json
import pathlib
import subprocess
import sys

SKIPPED = 77
RANGE_PRESENT, RANGE_ABSENT, RANGE_SUPPRESSED = range(3)


def sources(folder):
    """(file, expectation) for each file of a directory that has both."""
    for expected in sorted(folder.glob('*.json')):
        if expected.name.endswith('.values.json'):
            continue
        stem = expected.with_suffix('')
        file = stem if stem.suffix else expected.with_suffix('.root')
        if not file.exists():
            file = expected.with_suffix('.root')
        if file.exists():
            yield file, json.loads(expected.read_text())


def path_of(dataset, datasets):
    if dataset['attribute_of'] >= 0:
        parent = datasets[dataset['attribute_of']]
        return f"{path_of(parent, datasets)}@attr/{dataset['key']}"
    return '/'.join(list(reversed(dataset['directory'])) + [dataset['key']])


def expected_parent(field, fields):
    """The predraft's root field is hidden: its children are top-level, as in later generations."""
    roots = {f['id'] for f in fields if f['parent'] > 0xffffffff}
    return field['id'] if field['parent'] in roots else field['parent']


def compare(problems, what, found, expected):
    if found != expected:
        problems.append(f'{what}: {found!r:.200} instead of {expected!r:.200}')


def check_fields(problems, found, expected):
    fields = [f for f in expected['fields'] if f['parent'] <= 0xffffffff]
    compare(problems, 'ids of fields', sorted(f['id'] for f in found['fields']),
            sorted(f['id'] for f in fields))
    by_id = {f['id']: f for f in found['fields']}
    aliases = {}
    for alias in expected['aliases']:
        aliases.setdefault(alias['field'], []).append(alias['physical'])
    for field in fields:
        mine = by_id[field['id']]
        what = f"field {field['id']} ({field['name']})"
        compare(problems, f'{what}: parent', mine['parent'], expected_parent(field, expected['fields']))
        for key in ('name', 'type', 'role', 'flags', 'repeat', 'alias', 'description', 'field_version',
                    'type_version'):
            if key in field and not isinstance(field[key], list):
                compare(problems, f'{what}: {key}', mine['type_alias' if key == 'alias' else key], field[key])
        own = [c['id'] for c in sorted(expected['columns'], key=lambda c: (c.get('repr', 0), c['id']))
               if c['field'] == field['id']]
        compare(problems, f'{what}: columns', mine['columns'], aliases.get(field['id'], own))
        if own:
            compare(problems, f'{what}: owns its columns', mine['owns_columns'], True)
        if 'source' in field:
            compare(problems, f'{what}: source', mine['source'], field['source'])
        compare(problems, f'{what}: why it is unreadable', mine['unreadable'], None)


def is_rounded(column, expected):
    """Expected values have 32 bits where ROOT makes doubles of quantized columns:
    check_foreign.py compares those."""
    field = next(f for f in expected['fields'] if f['id'] == column['field'])
    return column['type'] == 'Real32Quant' and field['type'] == 'double'


def check_columns(problems, found, expected):
    compare(problems, 'ids of columns', [c['id'] for c in found['columns']],
            sorted(c['id'] for c in expected['columns']))
    by_id = {c['id']: c for c in found['columns']}
    for column in expected['columns']:
        mine = by_id[column['id']]
        what = f"column {column['id']}"
        for key in ('type', 'type_id', 'bits', 'field', 'repr', 'flags', 'n', 'checksums'):
            if key in column and not (key == 'flags' and expected['framing'] == 'predraft'):
                compare(problems, f'{what}: {key}', mine['type_number' if key == 'type_id' else key],
                        column[key])
        if column.get('sha256') and not is_rounded(column, expected):
            compare(problems, f'{what}: content', mine['sha256'], column['sha256'])
        compare(problems, f'{what}: first', mine['first'], abs(column['first']))
        states = [state for state, _, _ in mine['ranges']]
        compare(problems, f'{what}: suppressed', [i for i, s in enumerate(states) if s == RANGE_SUPPRESSED],
                column['suppressed'])
        pages = [None if state == RANGE_ABSENT else pages for state, pages, _ in mine['ranges']]
        compare(problems, f'{what}: pages', pages, column['pages_per_cluster'])
        settings = sorted({setting for state, _, setting in mine['ranges'] if state == RANGE_PRESENT})
        compare(problems, f'{what}: compression', settings, sorted(set(column['compression'])))


def check_documents(problems, found, expected):
    documents = found['documents']
    for key in ('header', 'footer'):
        compare(problems, f'{key}.bin', documents[f'{key}.bin'], expected[f'{key}_sha256'])
    for number, digest in enumerate(expected['pagelist_sha256'] or []):
        compare(problems, f'pagelist.{number}.bin', documents[f'pagelist.{number}.bin'], digest)
    for name, text in documents.items():
        if name.endswith('.json'):
            json.loads(text)
    header = json.loads(documents['header.json'])
    if 'feature_flags' in header:
        compare(problems, 'feature flags', header['feature_flags'], expected['feature_flags'])
    if expected.get('rc_tag') is not None:
        compare(problems, 'release candidate tag', header['release_candidate_tag'], expected['rc_tag'])


def check_dataset(found, expected):
    problems = []
    if found['failure']:
        return [found['failure']]
    for key in ('name', 'description', 'writer', 'n_entries', 'clusters', 'n_cluster_groups'):
        if expected.get(key) is not None:
            compare(problems, key, found[key], expected[key])
    anchor = expected['anchor']
    if anchor.get('epoch') is not None:
        compare(problems, 'version', found['version'], '.'.join(str(anchor[k])
                                                                for k in ('epoch', 'major', 'minor',
                                                                        'patch')))
    check_fields(problems, found, expected)
    check_columns(problems, found, expected)
    check_documents(problems, found, expected)
    return problems


def check_file(found, expected):
    if expected.get('valid') is False or any(n['feature_flags'] and n['feature_flags'] != [0]
                                             for n in expected['ntuples']):
        return [] if found['status'] != 'ok' and found['error'] else ['a bad file was opened']
    if found['status'] != 'ok':
        return [found['error']]
    mine = {(path_of(d, found['datasets']), d['cycle']): d for d in found['datasets']}
    problems = []
    for ntuple in expected['ntuples']:
        key = (ntuple['path'], ntuple['key'].get('cycle', 0))
        if key not in mine:
            problems.append(f'no dataset {key}, but {list(mine)}')
            continue
        problems += [f"{ntuple['path']}: {p}" for p in check_dataset(mine.pop(key), ntuple)]
    problems += [f'unexpected dataset {key}' for key in mine]
    return problems


def main():
    dump, folders = sys.argv[1], [pathlib.Path(f) for f in sys.argv[2:]]
    folders = [f for f in folders if f.is_dir()]
    if not folders:
        print('skipped: the directories with foreign files are not there')
        return SKIPPED
    pairs = [pair for folder in folders for pair in sources(folder)]
    failed = 0
    for file, expected in pairs:
        run = subprocess.run([dump, str(file)], capture_output=True)
        if run.returncode:
            problems = [run.stderr.decode(errors='replace')[-2000:]]
        else:
            problems = check_file(json.loads(run.stdout), expected)
        failed += bool(problems)
        for problem in problems[:20]:
            print(f'{file.name}: {problem}')
    print(f'{len(pairs) - failed} of {len(pairs)} files as expected')
    return failed > 0 or not pairs


if __name__ == '__main__':
    sys.exit(main())
