# SPDX-License-Identifier: MIT
"""Random Arrow types and values that Lance can store, and the problems of the tree that NTUPLE
makes of them."""
import datetime
import decimal

from cases import need

np, pa, _, blobs = need('numpy', 'pyarrow', 'lance.file', 'lance.blob')

from arrow_columns import table_columns  # noqa: E402
from compare_columns import check_column  # noqa: E402

WORDS = ['', 'a', 'word', '\u00e9', '\u65e5\u672c', '"\\', 'line\nbreak',
         'a longer word, of which there are many', 'x' * 300]
NUMBERS = [pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64()]
REALS = [pa.float16(), pa.float32(), pa.float64()]
PLAIN = [*NUMBERS, *NUMBERS, *REALS, pa.bool_(), pa.string(), pa.string(), pa.binary(), pa.large_string(),
         pa.large_binary(),
         pa.binary(5), pa.date32(), pa.date64(), pa.timestamp('us'), pa.timestamp('ms', 'UTC'),
         pa.time32('s'), pa.time64('us'),
         pa.duration('s'), pa.decimal128(20, 2), pa.decimal256(50, 3)]


RARE = [pa.null(), pa.dictionary(pa.int8(), pa.string()), pa.dictionary(pa.int16(), pa.large_string()),
        pa.dictionary(pa.int32(), pa.string()),
        pa.list_(pa.null(), 2), pa.list_(pa.list_(pa.list_(pa.int8(), 2), 1), 2),
        pa.list_(pa.list_(pa.int16(), 3), 2), pa.list_(pa.list_(pa.float32(), 2), 4),
        pa.map_(pa.string(), pa.int32()),
        pa.map_(pa.int16(), pa.list_(pa.string()))]


def random_type(chooser, depth):
    choice = chooser.random()
    if choice < 0.08:
        return chooser.choice(RARE)
    if depth == 0 or choice < 0.5:
        return chooser.choice(PLAIN)
    if choice < 0.62:
        return pa.list_(chooser.choice([*NUMBERS, *REALS, pa.bool_()]), chooser.choice([1, 3, 8, 70]))
    if choice < 0.82:
        make = chooser.choice([pa.list_, pa.list_, pa.large_list])
        return make(random_type(chooser, depth - 1))
    names = [f'm{k}' for k in range(chooser.randint(1, 3))]
    return pa.struct([pa.field(name, random_type(chooser, depth - 1)) for name in names])


class Values:
    """Random values with a style: many nulls or none, few distinct ones or many, long runs,
    small numbers."""

    def __init__(self, chooser, version):
        self.chooser, self.version = chooser, version
        self.nulls = chooser.choice([0, 0, 0.1, 0.5, 1])
        self.style = chooser.choice(['any', 'small', 'runs', 'few', 'constant'])

    def scalars(self, of, length):
        pool = [self.scalar(of) for _ in range({'constant': 1, 'few': 4, 'runs': 12}.get(self.style,
                max(length, 1)))]
        if self.style == 'runs':
            made = []
            while len(made) < length:
                made += [self.chooser.choice(pool)] * self.chooser.randint(1, 60)
            return made[:length]
        return [self.chooser.choice(pool) for _ in range(length)] if self.style in ('few',
                'constant') else pool[:length]

    def scalar(self, of):
        chooser = self.chooser
        if pa.types.is_boolean(of):
            return chooser.random() < 0.5
        if pa.types.is_integer(of):
            limits = np.iinfo(of.to_pandas_dtype())
            if self.style == 'small':
                return chooser.randint(0, 20)
            return chooser.choice([int(limits.min), int(limits.max), 0,
                                   chooser.randint(int(limits.min), int(limits.max))])
        if pa.types.is_floating(of):
            return of.to_pandas_dtype()(chooser.choice([chooser.uniform(-1000, 1000), float('inf'), -0.0,
                                                        1.5]))
        if pa.types.is_string(of) or pa.types.is_large_string(of):
            return chooser.choice(WORDS) + (str(chooser.randint(0, 9999)) if self.style == 'any' else '')
        if pa.types.is_fixed_size_binary(of):
            return bytes(chooser.randrange(256) for _ in range(of.byte_width))
        if pa.types.is_binary(of) or pa.types.is_large_binary(of):
            return bytes(chooser.randrange(256) for _ in range(chooser.choice([0, 1, 7, 200])))
        if pa.types.is_decimal(of):
            return decimal.Decimal(chooser.randint(-10**15, 10**15)).scaleb(-of.scale)
        if pa.types.is_date(of):
            return datetime.date(1970, 1, 1) + datetime.timedelta(days=chooser.randint(-9999, 30000))
        if pa.types.is_timestamp(of):
            zone = datetime.timezone.utc if of.tz else None
            return datetime.datetime(2000, 1, 1,
                                     tzinfo=zone) + datetime.timedelta(milliseconds=chooser.randint(-10**11,
                                             10**11))
        if pa.types.is_time(of):
            return datetime.time(chooser.randrange(24), chooser.randrange(60), chooser.randrange(60))
        return datetime.timedelta(seconds=chooser.randint(-10**6, 10**6))

    def mask(self, length, may_be_null=True):
        chance = self.nulls if may_be_null else 0
        return np.array([self.chooser.random() < chance for _ in range(length)], dtype=bool)

    def array(self, of, length):
        mask = self.mask(length, not (pa.types.is_struct(of) and self.version == '2.0'))
        if pa.types.is_struct(of):
            children = [self.array(field.type, length) for field in of]
            return pa.StructArray.from_arrays(children, fields=list(of), mask=pa.array(mask))
        if pa.types.is_null(of):
            return pa.nulls(length)
        if isinstance(of, blobs.BlobType):
            sizes = [0, 1, 100, *([70_000] if length < 100 else [])]
            return blobs.blob_array([None if null else b'b' * self.chooser.choice(sizes) for null in mask])
        if pa.types.is_dictionary(of):
            words = pa.array([f'{word}{k}' for k, word in enumerate(WORDS)], type=of.value_type)
            codes = [self.chooser.randrange(len(words)) for _ in range(length)]
            return pa.DictionaryArray.from_arrays(pa.array(codes, type=of.index_type, mask=mask), words)
        if pa.types.is_map(of):
            counts = [0 if null else self.chooser.choice([0, 1, 2, 5]) for null in mask]
            entries = self.array_without_nulls(pa.struct([of.key_field, of.item_field]), sum(counts))
            offsets = pa.array(np.concatenate([[0], np.cumsum(counts)]).astype('i4'),
                               mask=np.append(mask, False))
            return pa.MapArray.from_arrays(offsets, entries.field(0), entries.field(1), of)
        if pa.types.is_fixed_size_list(of):
            items = self.array_of_items(of.value_type, length * of.list_size)
            return pa.FixedSizeListArray.from_arrays(items, type=of, mask=pa.array(mask))
        if pa.types.is_list(of) or pa.types.is_large_list(of):
            counts = [0 if null else self.chooser.choice([0, 0, 1, 2, 3, 12, 40]) for null in mask]
            items = self.array(of.value_type, sum(counts))
            offsets = np.concatenate([[0], np.cumsum(counts)]).astype('i4' if pa.types.is_list(of) else 'i8')
            kind = pa.ListArray if pa.types.is_list(of) else pa.LargeListArray
            return kind.from_arrays(pa.array(offsets), items, type=of, mask=pa.array(mask))
        return pa.array(self.scalars(of, length), type=of, mask=mask)

    def array_without_nulls(self, of, length):
        keep, self.nulls = self.nulls, 0
        made = self.array(of, length)
        self.nulls = keep
        return made

    def array_of_items(self, of, length):
        choice, keep = self.chooser.random(), self.nulls
        if choice < 0.5:
            return self.array_without_nulls(of, length)
        self.nulls = 1 if choice > 0.8 else keep  # only nulls: writers have encodings for that
        made = self.array(of, length)
        self.nulls = keep
        return made


# ---- what is wrong with a tree ----

def plain(value):
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return 'NaN' if value != value else value


def problems_of_tree(tree, table):
    """The problems of the directory of a dataset that must equal an Arrow table."""
    found = []
    for column in table_columns(table):
        try:
            check_column(tree / column['path'], column)
        except (AssertionError, OSError, ValueError) as error:
            found.append(str(error))
    with pa.memory_map(str(tree / 'table.arrow')) as file:
        arrow = pa.ipc.open_file(file).read_all()
        arrow.validate(full=True)
        for name in table.column_names:
            if not found and plain(arrow[name].to_pylist()) != plain(table[name].to_pylist()):
                found.append(f'table.arrow: {name}: {arrow[name].type} for {table[name].type}')
    return found
