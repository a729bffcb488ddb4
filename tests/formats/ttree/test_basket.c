/* SPDX-License-Identifier: MIT
 *
 * Baskets that ROOT wrote, byte by byte; those of older versions, after the description of TBasket's
 * streamer; and damaged ones.
 */
#include <string.h>

#include "baskets.h"
#include "core/base/bytes.h"
#include "core/codec/codec.h"
#include "formats/ttree/ttree.h"
#include "support.h"

static struct nt_error error;
static struct nt_codec_context *context;

static void setup(void)
{
    context = nt_codec_context_new();
    ck_assert(context);
}

static void teardown(void)
{
    nt_codec_context_free(context);
}

static enum nt_status open_basket(const uint8_t *record, size_t count, struct nt_basket_content *content)
{
    return nt_basket_open(record, count, 1 << 20, context, content, &error);
}

/* ---- written by ROOT ---- */

/* ROOT 6.40: n/I is 1, 2, 3; a[n]/F counts from i in steps of an eighth; s/C is "x", "abx", "ababx". */
static const struct written {
    const char *what, *record; /* in hexadecimal */
    uint32_t entries, value_bytes, object_bytes, bytes;
    uint8_t flag, io_bits;
    bool is_embedded, has_offsets;
    uint32_t starts[3];
    const char *values;
} written[] = {
    {"a fixed size",
     "0000004d03ec0000000c7ef5601e0041000000000000000000e6000000000000006407544261736b6574016e0174000300007d0"
     "0"
     "00000004000000030000004d00000000010000000200000003",
     3,
     12,
     12,
     77,
     0,
     0,
     false,
     false,
     {0},
     "000000010000000200000003"},
    {"offsets",
     "0000006d03ec0000002c7ef5601e004100000000000000000133000000000000006407544261736b657401610174000300007d0"
     "0"
     "000003e8000000030000005900000000003f8000003f90000040000000400800004010000000000004000000410000004500"
     "00004d00000000",
     3,
     24,
     44,
     109,
     0,
     0,
     false,
     true,
     {0, 4, 12},
     "000000003f8000003f900000400000004008000040100000"},
    {"offsets that are left out",
     "0000005a03ec000000187ef56021004200000000000000000132000000000000006407544261736b657401610174000300007d0"
     "0"
     "fffffc1801000000030000005a50000000003f8000003f900000400000004008000040100000",
     3,
     24,
     24,
     90,
     80,
     1,
     false,
     false,
     {0},
     "000000003f8000003f900000400000004008000040100000"},
    {"sizes in place of offsets",
     "0000006203ec000000207ef5602100420000000000000000018c000000000000006407544261736b657401730174000300007d0"
     "0"
     "fffffc1801000000030000004e0001780361627805616261627800000004000000000000000200000004ffffffb8",
     3,
     12,
     32,
     98,
     0,
     1,
     false,
     true,
     {0, 2, 6},
     "017803616278056162616278"},
    {"displacements",
     "0000006b03ec0000002a7ef56027004100000000000000000a80000000000000006407544261736b657401730174000300007d0"
     "0"
     "000003e8000000020000004b0003616278056162616278000000030000004100000045fffffffe0000000300000043000000"
     "4700000000",
     2,
     10,
     42,
     107,
     0,
     0,
     false,
     true,
     {0, 4},
     "03616278056162616278"},
    {"a fixed size, in the tree's object",
     "0000000003ec00007cbf9c420000004100000000000000000000000000000000000007544261736b6574016e0174000300007d0"
     "0"
     "00000004000000030000004d0c0000000003ec000000009c420000001d00000000000000000000000000000000000007544261"
     "736b6574016e0174000300007d000000000000000000000000000000000001000000020000000301",
     3,
     12,
     12,
     142,
     12,
     0,
     true,
     false,
     {0},
     "000000010000000200000003"},
    {"offsets, in the tree's object",
     "0000000003ec00007cbf9c420000004100000000000000000000000000000000000007544261736b657401730174000300007d0"
     "0"
     "000003e8000000030000004d0b000000030000004100000043000000470000000003ec000000009c420000001d000000000000"
     "00000000000000000000000007544261736b657401730174000300007d00000003e800000000000000000001780361627805616"
     "2"
     "61627801",
     3,
     12,
     28,
     158,
     11,
     0,
     true,
     true,
     {0, 2, 6},
     "017803616278056162616278"},
    {"displacements, in the tree's object",
     "0000000003ec00007cbf9c420000004100000000000000000000000000000000000007544261736b657401730174000300007d0"
     "0"
     "000003e8000000020000004b330000000200000041000000450000000200000043000000470000000003ec000000009c420000"
     "001d00000000000000000000000000000000000007544261736b657401730174000300007d00000003e80000000000000000000"
     "3"
     "61627805616261627801",
     2,
     10,
     22,
     164,
     51,
     0,
     true,
     true,
     {0, 4},
     "03616278056162616278"},
};

static size_t from_hexadecimal(const char *text, uint8_t *bytes)
{
    size_t count = strlen(text) / 2;
    for (size_t i = 0; i < count; i++) {
        const char digits[3] = {text[2 * i], text[2 * i + 1], '\0'};
        bytes[i] = (uint8_t)strtoul(digits, NULL, 16);
    }
    return count;
}

static void assert_content(const struct written *row, const struct nt_basket_content *content)
{
    uint8_t values[64];
    size_t value_bytes = from_hexadecimal(row->values, values);
    ck_assert_uint_eq(content->basket.value_bytes, row->value_bytes);
    ck_assert_uint_eq(value_bytes, row->value_bytes);
    ck_assert_mem_eq(content->values, values, value_bytes);
    ck_assert_int_eq(content->offsets != NULL, row->has_offsets);
    for (uint32_t i = 0; row->has_offsets && i < row->entries; i++)
        ck_assert_uint_eq(nt_load_be32(content->offsets + 4 * i), content->basket.key_bytes + row->starts[i]);
}

TEST(baskets_that_root_wrote, .end = COUNT_OF(written), .setup = setup, .teardown = teardown)
{
    const struct written *row = &written[_i];
    uint8_t record[256];
    size_t count = from_hexadecimal(row->record, record);
    struct nt_basket_content content;
    assert_ok(open_basket(record, count, &content));
    ck_assert_uint_eq(content.basket.entries, row->entries);
    ck_assert_uint_eq(content.basket.object_bytes, row->object_bytes);
    ck_assert_uint_eq(content.basket.bytes, row->bytes);
    ck_assert_uint_eq(content.basket.flag, row->flag);
    ck_assert_uint_eq(content.basket.io_bits, row->io_bits);
    ck_assert_int_eq(content.basket.is_embedded, row->is_embedded);
    ck_assert_int_eq(content.basket.is_without_offsets, row->flag == 80);
    ck_assert_uint_eq(content.basket.cycle, 0);
    ck_assert_uint_eq(content.basket.header_end, content.basket.key_bytes);
    assert_content(row, &content);
}

TEST(baskets_that_are_cut_off, .end = COUNT_OF(written), .setup = setup, .teardown = teardown)
{
    uint8_t record[256];
    size_t count = from_hexadecimal(written[_i].record, record);
    struct nt_basket basket;
    struct nt_basket_content content;
    assert_ok(nt_basket_parse(record, count, &basket, &error));
    for (size_t cut = 0; cut < basket.bytes; cut++) {
        uint8_t *copy = malloc(cut ? cut : 1); /* of this size, for the sanitizer */
        memcpy(copy, record, cut);
        assert_status(cut < basket.header_end ? NT_TRUNCATED : NT_OK,
                      nt_basket_parse(copy, cut, &basket, &error));
        assert_status(NT_TRUNCATED, open_basket(copy, cut, &content));
        free(copy);
    }
    assert_ok(nt_basket_parse(record, basket.bytes, &basket, &error));
}

/* ---- after the description ---- */

static struct content content;
static struct made made;

/* Three strings. */
static void setup_strings(void)
{
    setup();
    content.entries = 0;
    content.values.count = 0;
    put_string(&content.values, "x", 1);
    end_entry(&content);
    end_entry(&content);
    put_string(&content.values, "abx", 3);
    end_entry(&content);
}

static void assert_strings(struct nt_basket_content *opened)
{
    static const uint32_t starts[] = {0, 2, 2};
    ck_assert_uint_eq(opened->basket.entries, 3);
    ck_assert_uint_eq(opened->basket.value_bytes, 6);
    ck_assert_mem_eq(opened->values, "\1x\3abx", 6);
    for (uint32_t i = 0; opened->offsets && i < 3; i++)
        ck_assert_uint_eq(nt_load_be32(opened->offsets + 4 * i), opened->basket.key_bytes + starts[i]);
}

static const struct storage storages[] = {
    {.flag = 0},
    {.has_small_key = true, .version = 2},
    {.is_compressed = true},
    {.has_small_key = true, .version = 1, .is_compressed = true},
    {.io_bits = 1, .has_sizes = true},
    {.io_bits = 1, .has_sizes = true, .is_compressed = true},
    {.io_bits = 1, .flag = 80, .has_no_offsets = true},
    {.has_no_offsets = true},
    {.is_embedded = true, .flag = 11},
    {.is_embedded = true, .flag = 1, .version = 1, .has_small_key = true},
    {.is_embedded = true, .flag = 11, .version = 1, .has_small_key = true},
    {.is_embedded = true, .flag = 12, .has_no_offsets = true},
    {.is_embedded = true, .flag = 51},
    {.is_embedded = true, .flag = 91, .io_bits = 1, .has_no_offsets = true},
};

TEST(all_forms_of_baskets, .end = COUNT_OF(storages), .setup = setup_strings, .teardown = teardown)
{
    const struct storage *storage = &storages[_i];
    struct nt_basket_content opened;
    make_basket(&made, &content, storage);
    assert_ok(open_basket(made.bytes, made.count, &opened));
    ck_assert_uint_eq(opened.basket.bytes, made.count);
    ck_assert_int_eq(opened.basket.is_embedded, storage->is_embedded);
    ck_assert_int_eq(opened.offsets == NULL, storage->has_no_offsets);
    ck_assert_uint_eq(opened.basket.object_bytes,
                      opened.basket.value_bytes +
                          (storage->has_no_offsets ? 0u : 16u + (storage->is_embedded ? 0u : 4u)));
    assert_strings(&opened);
}

/* Before ROOT 3, the highest byte of an offset was a displacement. */
TEST(displacements_in_the_highest_byte, .setup = setup_strings, .teardown = teardown)
{
    struct nt_basket_content opened;
    make_basket(&made, &content, &(struct storage){.is_embedded = true, .flag = 31});
    made.bytes[65 + 4] = 0x7F;
    made.bytes[65 + 12] = 0xFF;
    assert_ok(open_basket(made.bytes, made.count, &opened));
    assert_strings(&opened);
    made.bytes[AT_FLAG] = 11;
    assert_status(NT_CORRUPT, open_basket(made.bytes, made.count, &opened));
}

TEST(baskets_without_entries, .end = COUNT_OF(storages), .setup = setup_strings, .teardown = teardown)
{
    struct nt_basket_content opened;
    content.entries = 0;
    content.values.count = 0;
    make_basket(&made, &content, &storages[_i]);
    assert_ok(open_basket(made.bytes, made.count, &opened));
    ck_assert_uint_eq(opened.basket.entries, 0);
    ck_assert_uint_eq(opened.basket.value_bytes, 0);
}

/* ROOT repairs such a record, too: an array of offsets without items. */
TEST(an_empty_array_of_offsets, .setup = setup_strings, .teardown = teardown)
{
    struct nt_basket_content opened;
    make_basket(&made, &content, &(struct storage){.has_no_offsets = true});
    put_number(&made, 0, 4);
    set_number(&made, AT_BYTES, made.count, 4);
    set_number(&made, AT_OBJECT_BYTES, made.count - AT_VALUES, 4);
    assert_ok(open_basket(made.bytes, made.count, &opened));
    ck_assert(!opened.offsets);
    assert_strings(&opened);
}

TEST(names_of_any_length, .setup = setup_strings, .teardown = teardown)
{
    static const size_t lengths[] = {0, 1, 254, 255, 1000};
    char name[1000];
    memset(name, 'n', sizeof(name));
    for (unsigned i = 0; i < 5; i++) {
        struct made longer = {.count = 0};
        struct nt_basket basket;
        make_basket(&made, &content, &(struct storage){.flag = 0});
        put(&longer, made.bytes, 42);
        put_string(&longer, name, lengths[i]);
        size_t key_bytes = longer.count + AT_VALUES - 44;
        put(&longer, made.bytes + 44, made.count - 44);
        set_number(&longer, AT_KEY_BYTES, key_bytes, 2);
        set_number(&longer, longer.count - (made.count - AT_LAST), key_bytes + content.values.count, 4);
        set_number(&longer, AT_BYTES, longer.count, 4);
        assert_ok(nt_basket_parse(longer.bytes, longer.count, &basket, &error));
        ck_assert_uint_eq(basket.header_end, key_bytes);
        ck_assert_uint_eq(basket.value_bytes, content.values.count);
        assert_status(NT_TRUNCATED, nt_basket_parse(longer.bytes, key_bytes - 1, &basket, &error));
    }
}

/* ---- damaged ---- */

/* In the record of three strings with offsets: the offset, the stored bytes, and a word of the message. */
static const struct damage {
    size_t offset;
    unsigned width;
    uint32_t stored;
    enum nt_status status;
    const char *about;
} damages[] = {
    {AT_BYTES, 4, 64, NT_CORRUPT, "fNbytes"},
    {AT_BYTES, 4, 0xFFFFFFF0, NT_CORRUPT, "fNbytes"},
    {AT_BYTES, 4, 92, NT_TRUNCATED, "expected 92 bytes, found 91"},
    {AT_BYTES, 4, 90, NT_UNSUPPORTED, "unknown compression"},
    {AT_OBJECT_BYTES, 4, 0x80000000, NT_CORRUPT, "fObjlen"},
    {AT_OBJECT_BYTES, 4, 5, NT_CORRUPT, "bytes of values in a basket: expected at most 5, found 6"},
    {AT_OBJECT_BYTES, 4, 0x7FFFFFFF, NT_LIMIT, "2147483647 bytes, more than the limit"},
    {AT_OBJECT_BYTES, 4, 27, NT_UNSUPPORTED, "unknown compression"},
    {AT_KEY_BYTES, 2, 0, NT_CORRUPT, "fKeylen"},
    {AT_KEY_BYTES, 2, 33, NT_CORRUPT, "fKeylen"},
    {AT_KEY_BYTES, 2, 34, NT_CORRUPT, "fKeylen of a basket: names and members do not fit in 34 bytes"},
    {AT_KEY_BYTES, 2, 64, NT_CORRUPT, "fKeylen of a basket: names and members do not fit in 64 bytes"},
    {AT_KEY_BYTES, 2, 0x8000, NT_CORRUPT, "fKeylen"},
    {AT_KEY_BYTES, 2, 72, NT_CORRUPT, "fLast of a basket: expected at least 72, found 71"},
    {34, 1, 200, NT_CORRUPT, "fKeylen of a basket: names and members do not fit"},
    {34, 1, 255, NT_CORRUPT, "fKeylen of a basket: names and members do not fit"},
    {AT_VERSION, 2, 0, NT_CORRUPT, "version"},
    {AT_VERSION, 2, 4, NT_UNSUPPORTED, "version of a basket: expected 1 to 3, found 4"},
    {AT_ENTRY_BYTES, 4, 0x80000000, NT_CORRUPT, "fKeylen of a basket: names and members do not fit"},
    {AT_ENTRIES, 4, 0xFFFFFFFF, NT_CORRUPT, "fNevBuf of a basket: expected 0 or more, found -1"},
    {AT_ENTRIES, 4, 2, NT_CORRUPT, "bytes of offsets in a basket: expected 16, found 20"},
    {AT_ENTRIES, 4, 4, NT_CORRUPT, "bytes of offsets in a basket: expected 24, found 20"},
    {AT_ENTRIES, 4, 0x7FFFFFFF, NT_CORRUPT, "bytes of offsets in a basket"},
    {AT_LAST, 4, 64, NT_CORRUPT, "fLast"},
    {AT_LAST, 4, 0xFFFFFFFF, NT_CORRUPT, "fLast of a basket: expected 0 or more, found -1"},
    {AT_LAST, 4, 70, NT_CORRUPT, "bytes of offsets in a basket: expected 20, found 21"},
    {AT_LAST, 4, 92, NT_CORRUPT, "bytes of values in a basket: expected at most"},
    {AT_LAST, 4, 89, NT_CORRUPT, "bytes of offsets in a basket: expected 20, found 2"},
    {AT_FLAG, 1, 11, NT_TRUNCATED, "a basket: expected 152 bytes, found 91"},
    {71, 4, 3, NT_CORRUPT, "number of offsets in a basket: expected 4, found 3"},
    {71, 4, 0xFFFFFFFF, NT_CORRUPT, "number of offsets in a basket"},
    {75, 4, 64, NT_CORRUPT, "offset of entry 0 of a basket: expected 65 to 65, found 64"},
    {75, 4, 66, NT_CORRUPT, "offset of entry 0 of a basket: expected 65 to 65, found 66"},
    {79, 4, 64, NT_CORRUPT, "offset of entry 1 of a basket: expected 65 to 71, found 64"},
    {79, 4, 68, NT_CORRUPT, "offset of entry 2 of a basket: expected 68 to 71, found 67"},
    {83, 4, 72, NT_CORRUPT, "offset of entry 2 of a basket: expected 67 to 71, found 72"},
    {83, 4, 0xFFFFFFFF, NT_CORRUPT, "offset of entry 2 of a basket"},
};

TEST(damaged_baskets_are_refused, .end = COUNT_OF(damages), .setup = setup_strings, .teardown = teardown)
{
    const struct damage *damage = &damages[_i];
    struct nt_basket_content opened;
    make_basket(&made, &content, &(struct storage){.flag = 0});
    ck_assert_uint_eq(made.count, 91);
    set_number(&made, damage->offset, damage->stored, damage->width);
    assert_status(damage->status, open_basket(made.bytes, made.count, &opened));
    ck_assert_msg(strstr(error.message, damage->about), "%s", error.message);
}

TEST(damaged_baskets_in_the_object_are_refused, .setup = setup_strings, .teardown = teardown)
{
    static const struct storage offsets = {.is_embedded = true, .flag = 51};
    static const struct storage counted = {.is_embedded = true, .flag = 11, .version = 1};
    struct nt_basket_content opened;
    make_basket(&made, &content, &offsets);
    set_number(&made, 65, 4, 4);
    assert_status(NT_CORRUPT, open_basket(made.bytes, made.count, &opened));
    make_basket(&made, &content, &offsets);
    set_number(&made, 65 + 16, 2, 4);
    assert_status(NT_CORRUPT, open_basket(made.bytes, made.count, &opened));
    ck_assert(strstr(error.message, "number of displacements"));
    make_basket(&made, &content, &counted);
    set_number(&made, 65 + 16, 70, 4);
    assert_status(NT_CORRUPT, open_basket(made.bytes, made.count, &opened));
    ck_assert(strstr(error.message, "bytes of the buffer of a basket: expected 71, found 70"));
    make_basket(&made, &content, &offsets);
    set_number(&made, AT_LAST, 0x7FFFFFFF, 4);
    assert_status(NT_CORRUPT, open_basket(made.bytes, made.count, &opened));
    set_number(&made, AT_LAST, 1 << 30, 4);
    assert_status(NT_TRUNCATED, open_basket(made.bytes, made.count, &opened));
}

TEST(damaged_bits_and_sizes_are_refused, .setup = setup_strings, .teardown = teardown)
{
    static const struct storage sizes = {.io_bits = 1, .has_sizes = true};
    struct nt_basket_content opened;
    make_basket(&made, &content, &sizes);
    made.bytes[AT_ENTRIES] = 0x80; /* fIOBits */
    assert_status(NT_CORRUPT, open_basket(made.bytes, made.count, &opened));
    made.bytes[AT_ENTRIES] = 0;
    assert_status(NT_CORRUPT, open_basket(made.bytes, made.count, &opened));
    ck_assert(strstr(error.message, "fIOBits of a basket: expected 1 to 127, found 0"));
    made.bytes[AT_ENTRIES] = 3;
    assert_status(NT_UNSUPPORTED, open_basket(made.bytes, made.count, &opened));
    made.bytes[AT_ENTRIES] = 1;
    assert_ok(open_basket(made.bytes, made.count, &opened));
    set_number(&made, 66 + 6 + 4, 1, 4); /* the first size, which is 0 */
    assert_status(NT_CORRUPT, open_basket(made.bytes, made.count, &opened));
    make_basket(&made, &content, &sizes);
    set_number(&made, 66 + 6 + 8, 0xFFFFFFFF, 4);
    assert_status(NT_CORRUPT, open_basket(made.bytes, made.count, &opened));
}

TEST(the_limit_bounds_what_is_decompressed, .setup = setup_strings, .teardown = teardown)
{
    struct nt_basket_content opened;
    for (unsigned i = 0; i < 1000; i++)
        put_number(&content.values, 0, 4);
    make_basket(&made, &content, &(struct storage){.is_compressed = true});
    size_t bytes = content.values.count + 20;
    assert_ok(nt_basket_open(made.bytes, made.count, bytes, context, &opened, &error));
    assert_status(NT_LIMIT, nt_basket_open(made.bytes, made.count, bytes - 1, context, &opened, &error));
    /* without compression, nothing is copied */
    make_basket(&made, &content, &(struct storage){.flag = 0});
    assert_ok(nt_basket_open(made.bytes, made.count, 0, context, &opened, &error));
    ck_assert_ptr_eq(opened.values, made.bytes + AT_VALUES);
}

TEST(no_byte_of_a_header_makes_it_read_beyond_the_record, .end = COUNT_OF(storages), .setup = setup_strings,
     .teardown = teardown)
{
    make_basket(&made, &content, &storages[_i]);
    uint8_t *copy = malloc(made.count);
    for (size_t at = 0; at < made.count; at++) {
        for (unsigned value = 0; value < 256; value++) {
            struct nt_basket_content opened;
            memcpy(copy, made.bytes, made.count);
            copy[at] = (uint8_t)value;
            if (open_basket(copy, made.count, &opened) != NT_OK)
                continue;
            for (uint32_t i = 0; opened.offsets && i < opened.basket.entries; i++)
                ck_assert_uint_le(nt_load_be32(opened.offsets + 4 * i), opened.basket.last);
            ck_assert(opened.basket.is_embedded || opened.basket.bytes <= made.count);
        }
    }
    free(copy);
}
