/* SPDX-License-Identifier: MIT
 *
 * Several threads compare the elements of long streams: random changes are reported, all of them and
 * nothing else.
 */
#include "diffed.h"
#include "random_dataset.h"

/* ---- large streams ---- */

enum { MANY = 600 * 1000, LAST = MANY - 1 };

/* Integers from 0 on, except some. */
static struct builder *many(const uint32_t *others, uint32_t count, uint32_t page_elements, unsigned threads)
{
    struct builder *builder = builder_new();
    uint64_t *values = malloc(MANY * sizeof(*values));
    uint32_t column = add_column(builder, add_named(builder, NT_NONE, "n", NT_FIELD_VALUE, NT_ELEMENT_UINT32),
                                 NT_ENCODING_UINT32, 0);
    for (uint32_t i = 0; i < MANY; i++)
        values[i] = i;
    for (uint32_t i = 0; i < count; i++)
        values[others[i]] = 7;
    add_elements(builder, add_cluster(builder, 0, MANY), column, values, MANY, page_elements);
    free(values);
    finish(builder, &(struct nt_reader_options){.threads = threads});
    return builder;
}

TEST(the_first_of_many_elements_is_reported_with_any_number_of_threads, .end = 20)
{
    static const uint32_t places[] = {1, 262143, 262144, 400000, LAST};
    const uint32_t others[] = {places[_i % 5], LAST};
    char expected[64];
    snprintf(expected, sizeof(expected), "n[%u] of %u value: %u | 7\n", others[0], others[0], others[0]);
    check_diff(many(NULL, 0, 100000, (unsigned)_i / 5), many(others, 2, 30011, 0), "", expected);
}

/* Values before the damage are compared; those after the first difference are not reported. */
TEST(differences_are_found_in_front_of_damage_and_after, .end = 8)
{
    static const uint32_t first[] = {10}, second[] = {LAST};
    struct reported reported;
    struct builder *a = many(NULL, 0, 1000, (unsigned)_i / 2);
    struct builder *b = many(_i % 2 ? second : first, 1, 1000, 0);
    damage(b, 400);
    diff(&reported, a, b);
    check_reported(&reported, "",
                   _i % 2 ? "n[599999] of 599999 value: 599999 | 7\n" : "n[10] of 10 value: 10 | 7\n",
                   _i % 2 ? "page 400 of cluster 0" : "");
    forget(&reported);
    builder_free(a);
    builder_free(b);
}

/* ---- Random changes ---- */

/* The first difference of two streams that are read whole; false if one cannot be. */
static bool is_readable(struct builder *builder, uint32_t field, enum nt_stream_kind kind,
                        struct nt_buffer *out)
{
    enum {
        MAX_ELEMENTS = 1 << 20
    }; /* a changed offset may refer to more items, some of which do not exist then */
    struct nt_stream *stream;
    if (nt_stream_open(builder->reader, builder->dataset, field, kind, &stream, NULL) != NT_OK)
        return false;
    uint64_t elements = nt_stream_elements(stream);
    bool is_small = elements <= MAX_ELEMENTS;
    uint8_t *bytes = is_small ? nt_buffer_extend(out, elements * nt_stream_element_bytes(stream)) : NULL;
    bool is_good = is_small && nt_stream_read_elements(stream, 0, elements, bytes, NULL) == NT_OK;
    nt_stream_close(stream);
    return is_good;
}

/* Can all streams of a field be read on both sides? If so, are they equal? */
static bool are_readable(struct builder *a, struct builder *b, uint32_t field, bool *are_same_ret)
{
    bool are_good = true;
    *are_same_ret = true;
    for (unsigned kind = 0; kind < NT_STREAM_COUNT; kind++) {
        struct nt_buffer left = {0}, right = {0};
        if (!nt_field_has_stream(&a->fields[field], (enum nt_stream_kind)kind))
            continue;
        are_good &= is_readable(a, field, (enum nt_stream_kind)kind, &left) &&
                    is_readable(b, field, (enum nt_stream_kind)kind, &right);
        *are_same_ret &= left.length == right.length &&
                         memcmp(nt_buffer_string(&left), nt_buffer_string(&right), left.length) == 0;
        nt_buffer_deinit(&left);
        nt_buffer_deinit(&right);
    }
    return are_good;
}

static bool mentions(const struct nt_buffer *lines, const struct nt_dataset *dataset, uint32_t field)
{
    struct nt_buffer name = {0};
    nt_append_field_path(&name, dataset, field);
    const char *at = nt_buffer_string(lines);
    bool is_found = false;
    for (; at && *at; at = strchr(at, '\n') + 1)
        is_found |=
            strncmp(at, name.bytes, name.length) == 0 && (at[name.length] == '[' || at[name.length] == ' ');
    nt_buffer_deinit(&name);
    return is_found;
}

/* Random changes of bytes without checksums: the report agrees with reading everything. */
TEST(what_chance_changes_is_reported, .end = 120)
{
    struct builder *builders[NT_DIFF_SIDES];
    struct reported reported;
    unsigned seed = (unsigned)_i;
    static char names[MAX_FIELDS][16];
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++) {
        struct builder *builder = builders[side] = random_dataset(seed, 12);
        for (uint32_t i = 0; i < builder->field_count; i++) {
            snprintf(names[i], sizeof(names[i]), "f%u", i);
            builder->fields[i].name = text_of(names[i]);
        }
        for (uint32_t group = 0; group < MAX_GROUPS; group++)
            for (uint32_t i = 0; i < builder->page_count[group]; i++)
                builder->pages[group][i].checksum = NT_CHECKSUM_NONE;
    }
    for (unsigned i = 0; i < 4 && builders[1]->bytes.length; i++) {
        seed = seed * 1103515245 + 12345;
        builders[1]->bytes.bytes[(seed >> 8) % builders[1]->bytes.length] ^= (char)(1 << seed % 7);
    }
    finish(builders[0], NULL);
    finish(builders[1], &(struct nt_reader_options){.threads = 2});
    diff(&reported, builders[0], builders[1]);
    for (uint32_t i = 0; i < builders[0]->field_count; i++) {
        bool are_same, are_good = are_readable(builders[0], builders[1], i, &are_same);
        bool is_reported = mentions(&reported.lines[NT_DIFF_VALUES], builders[0]->dataset, i);
        bool is_projected = nt_field_source(&builders[0]->fields[i]) != NT_NONE;
        if (are_good && !is_projected)
            ck_assert_int_eq(is_reported, !are_same);
        if (!are_good)
            ck_assert_uint_ge(reported.summary.failures, 1);
    }
    forget(&reported);
    builder_free(builders[0]);
    builder_free(builders[1]);
}
