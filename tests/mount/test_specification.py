# SPDX-License-Identifier: MIT
"""RDataFrame's specifications of datasets as chains: the datasets of which files, in which
order."""
import json
import shutil
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'support'))
from bloscpack_file import write_bloscpack  # noqa: E402
from chains import chain, copies, refusal  # noqa: E402
from harness import NTUPLE, case, lines, need, output, run, same, scratch

INNER = 'run 1.5/inner'


def specify(path, **samples):
    """For each sample: trees, files, and metadata if there is any."""
    keys = ('trees', 'files', 'metadata')
    described = {name: dict(zip(keys, values)) for name, values in samples.items()}
    path.write_text(json.dumps({'samples': described}))
    return path


@case
def samples_follow_one_another_as_they_are_written():
    with scratch() as directory:
        for i, values in enumerate(([1, 2], [3], [], [4, 5, 6])):
            (directory / 'below').mkdir(exist_ok=True)
            write_bloscpack(directory / f'below/part{i}.blp', np.array(values, '<i8'))
        text = specify(directory / 'text.json', z=(['part3'], ['below/part3.blp']),
                       a=(['part0', 'part1'], ['below/part0.blp', f'{directory}/**/part1.blp']),
                       m=(['part2'], ['below/*2.blp']))
        with chain(text) as whole:
            same([path.name for path in whole.iterdir() if path.is_dir() and path.name[0] != '.'
                  and path.name != 'files.d'], ['part3'])
            same(np.load(whole / 'part3/values/data.npy').tolist(), [4, 5, 6, 1, 2, 3])


@case
def other_datasets_of_the_files_need_not_be_alike():
    """The mount prints nothing: of a file that has two datasets, the specification names one."""
    with scratch() as directory:
        copies(directory, 'example.root', 2)
        with chain(specify(directory / 'text.json', a=(['Events'], ['run*.root']))) as whole:
            same(json.loads((whole / 'Events/ntuple.json').read_text())['entries'], 2000)


@case
def trees_say_which_dataset_of_a_file_is_meant():
    with scratch() as directory:
        first, second = copies(directory, 'dirs_and_cycles.root', 2)
        numbers = {tree: np.frombuffer(output(NTUPLE, 'cat', first, f'{tree}/number/data.bin'), dtype)
                   for tree, dtype in (('top', '<i4'), ('top;1', '<i4'), (INNER, '<f4'))}
        # the same file again, with another dataset
        text = specify(directory / 'text.json', a=(['top', 'top;1', 'top'],
                                                   [first.name, first.name, second.name]))
        expected = np.concatenate([numbers['top'], numbers['top;1'], numbers['top']])
        with chain(text) as whole:
            np.testing.assert_array_equal(np.load(whole / 'top/number/data.npy'), expected)
            assert not (whole / INNER).exists()
        text = specify(text, a=([INNER], ['run*.root']))
        with chain(text) as whole:
            np.testing.assert_array_equal(np.load(whole / INNER / 'number/data.npy'),
                                          np.tile(numbers[INNER], 2))
            assert not (whole / 'top').exists()


@case
def what_is_no_specification_is_refused_by_name():
    with scratch() as directory:
        paths = copies(directory, 'example.root', 2)
        text = directory / 'text.json'
        for samples, expected in ((dict(a=(['Events'], ['none*.root'])), 'sample "a": '
                                   + str(directory / 'none*.root')),
                                  (dict(a=(['Events'], ['run*.root']), b=(['Events'], ['run1.root'])),
                                   f'sample "b": {paths[1]}: is named twice'),
                                  (dict(a=(['Events'], ['text.json'])), f'{text}: the list names itself'),
                                  (dict(a=(['Event'], ['run0.root'])), f"{paths[0]}: has no dataset 'Event'"),
                                  (dict(a=(['Events'], ['run0.root']), b=(['Event'], ['run1.root'])),
                                   f"{paths[1]}: has no dataset 'Event'")):
            message = refusal(specify(text, **samples), options=('-o', 'chain=check'))
            assert str(text) in message and expected in message, (expected, message)
        for content, expected in (({'range': [1, 2]}, '"range"'),
                                  ({'samples': {'a': {'tree': 'Events'}}}, 'sample "a": "tree"')):
            text.write_text(json.dumps(content))
            message = refusal(text)
            assert str(text) in message and expected in message, (expected, message)


def by_root(ROOT, path, tree, first, count):
    """A file with numbers from `first` on."""
    options = ROOT.RDF.RSnapshotOptions()
    options.fOutputFormat = ROOT.RDF.ESnapshotOutputFormat.kRNTuple
    ROOT.RDataFrame(count).Define('number', f'(int)({first} + rdfentry_)').Snapshot(tree, str(path),
            'number', options)


@case
def rdataframe_reads_the_same():
    ROOT = need('ROOT')
    with scratch() as directory:
        for i, count in enumerate((5, 0, 3, 4, 1)):
            by_root(ROOT, directory / f'run{i}.root', 'T', 100 * i, count)
        shutil.copy(directory / 'run3.root', directory / 'run9.root')
        text = specify(directory / 'text.json', z=(['T'],
                                                   [f'{directory}/run[34].root', f'{directory}/run0.root'],
                                                   {'weight': 0.5}),
                       a=(['T', 'T'], [f'{directory}/run2.root', f'{directory}/run1.root'], {'weight': 0.1}),
                       m=(['T'], [f'{directory}/*9.root'], {'weight': 2.0}))
        frame = ROOT.RDF.Experimental.FromSpec(str(text))
        for column, asked in (('sample', 'std::string(rdfsampleinfo_.GetSampleName())'),
                              ('weight', 'rdfsampleinfo_.GetD("weight")')):
            frame = frame.DefinePerSample(column, asked)
        expected = frame.AsNumpy(['number', 'sample', 'weight'])
        with chain(text) as whole:
            np.testing.assert_array_equal(np.load(whole / 'T/number/data.npy'), expected['number'])
            shown = lines(whole / 'T/files.jsonl')
            entries = [line['entries'] for line in shown]
            same(np.repeat([line['sample'] for line in shown], entries).tolist(),
                 [str(name) for name in expected['sample']])
            same(np.repeat([line['metadata']['weight'] for line in shown], entries).tolist(),
                 expected['weight'].tolist())


run()
