# SPDX-License-Identifier: MIT
"""Ray and Spark on this machine, with processes of their own and without a mount: what they find is what
uproot reads. `scripts/long engines` installs both; elsewhere these tests skip."""
import os
import shutil
import sys

import ntuple
import pytest
from conftest import CHAIN, DATA

# ---- Ray ----

@pytest.fixture(scope='module')
def ray():
    ray = pytest.importorskip('ray', reason='ray is not installed')
    pytest.importorskip('ray.data', reason="ray's data are not installed")
    os.environ['RAY_AUTH_MODE'] = 'disabled'
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level='ERROR')
    yield ray
    ray.shutdown()


def test_datasets_of_ray_have_what_uproot_reads(ray, expected):
    import ntuple.ray
    data = ray.data.read_datasource(ntuple.ray.NtupleDatasource(ntuple.chain(CHAIN)['compressed'], bytes=1))
    assert data.count() == len(expected)
    assert data.schema().names == ['ramp', 'noise', 'values', 'text']
    assert data.sum('ramp') == int(sum(expected['ramp']))
    rows = data.select_columns(['text', 'values']).take_all()
    assert sorted(zip([row['text'] for row in rows], [list(row['values']) for row in rows])) \
        == sorted(zip(expected['text'].tolist(), expected['values'].tolist()))


def test_tasks_of_ray_say_what_is_wrong(ray, tmp_path):
    import ntuple.ray
    path = tmp_path / 'run.root'
    shutil.copy(CHAIN[0], path)
    data = ray.data.read_datasource(ntuple.ray.NtupleDatasource(ntuple.open(path)['compressed']))
    path.write_bytes(CHAIN[1].read_bytes())
    with pytest.raises(ray.exceptions.RayTaskError, match='run.root: was replaced'):
        data.take_all()


# ---- Spark ----

@pytest.fixture(scope='module')
def spark():
    sql = pytest.importorskip('pyspark.sql', reason='pyspark is not installed')
    if not shutil.which('java'):
        pytest.skip('java is not installed')
    os.environ['PYSPARK_PYTHON'] = sys.executable
    session = sql.SparkSession.builder.master('local[2]').config('spark.ui.enabled', 'false') \
        .config('spark.driver.host', '127.0.0.1').getOrCreate()
    session.sparkContext.setLogLevel('OFF')
    import ntuple.spark
    session.dataSource.register(ntuple.spark.NtupleDataSource)
    yield session
    session.stop()


def test_frames_of_spark_have_what_uproot_reads(spark, expected):
    reader = spark.read.format('ntuple').option('bytes', 1)
    frame = reader.load(str(DATA / 'compression_[lnz][o4s]*.root'))
    files = sorted(DATA.glob('compression_[lnz][o4s]*.root'))
    whole = pytest.importorskip('awkward').concatenate(
        [pytest.importorskip('uproot').open(path)['compressed'].arrays() for path in files])
    assert frame.count() == len(whole)
    assert frame.agg({'ramp': 'sum'}).collect()[0][0] == int(sum(whole['ramp']))
    rows = reader.option('columns', 'text,values,ramp').load(str(CHAIN[0])).orderBy('ramp').collect()
    assert sorted((row['text'], row['values'], row['ramp']) for row in rows) \
        == sorted(zip(*(expected[name][:1000].tolist() for name in ('text', 'values', 'ramp'))))


def test_spark_has_wider_types_where_it_lacks_one(spark, example):
    """Unsigned numbers become wider ones, and nulls stay null."""
    uproot = pytest.importorskip('uproot')
    rows = uproot.open(example)['Events'].arrays(['run', 'event', 'missing_energy', 'muons'])
    frame = spark.read.format('ntuple').option('dataset', 'Events').load(str(example))
    assert dict(frame.dtypes)['run'] == 'bigint' and dict(frame.dtypes)['event'] == 'decimal(20,0)'
    found = frame.select('run', 'event', 'missing_energy', 'muons.pt').collect()
    assert [row[0] for row in found] == rows['run'].tolist()
    assert [int(row[1]) for row in found] == rows['event'].tolist()
    assert [row[2] for row in found] == rows['missing_energy'].tolist()
    assert [row[3] for row in found] == rows['muons']['pt'].tolist()
    few = spark.read.format('ntuple').option('dataset', 'Events').schema('weight double').load(str(example))
    assert few.columns == ['weight'] and few.count() == len(rows)
