/* SPDX-License-Identifier: MIT
 *
 * Envelopes: flipped bits, wrong types and lengths, impossible positions.
 */
#include "rntuple_envelopes.h"

static struct nt_error error;

TEST(the_payload_is_between_preamble_and_checksum, .end = RNTUPLE_GENERATIONS)
{
    struct rntuple_writer writer;
    struct nt_envelope envelope;
    rntuple_begin(&writer, _i, RNTUPLE_HEADER);
    rntuple_u32(&writer, 0x12345678);
    uint64_t checksum = rntuple_end(&writer);
    assert_ok(load(&writer, NT_ENVELOPE_HEADER, &envelope, &error));
    ck_assert_uint_eq(envelope.checksum, checksum);
    ck_assert_uint_eq(nt_cursor_left(&envelope.payload), 4);
    ck_assert_uint_eq(nt_get_le32(&envelope.payload), 0x12345678);
    nt_envelope_deinit(&envelope);
    nt_buffer_deinit(&writer.bytes);
}

TEST(every_flipped_bit_is_found, .end = RNTUPLE_GENERATIONS)
{
    struct rntuple_writer writer;
    struct nt_envelope envelope;
    rntuple_begin(&writer, _i, RNTUPLE_FOOTER);
    rntuple_u64(&writer, 42);
    rntuple_end(&writer);
    for (size_t bit = 0; bit < writer.bytes.length * 8; bit++) {
        writer.bytes.bytes[bit / 8] ^= (char)(1 << bit % 8);
        assert_status(NT_CHECKSUM, load(&writer, NT_ENVELOPE_FOOTER, &envelope, &error));
        ck_assert_ptr_nonnull(strstr(error.message, "footer"));
        writer.bytes.bytes[bit / 8] ^= (char)(1 << bit % 8);
    }
    nt_buffer_deinit(&writer.bytes);
}

TEST(an_envelope_of_another_type_is_refused, .first = RNTUPLE_RC1, .end = RNTUPLE_GENERATIONS)
{
    struct rntuple_writer writer;
    struct nt_envelope envelope;
    rntuple_begin(&writer, _i, RNTUPLE_FOOTER);
    rntuple_end(&writer);
    assert_status(NT_CORRUPT, load(&writer, NT_ENVELOPE_PAGE_LIST, &envelope, &error));
    ck_assert_str_eq(error.expected, "3");
    ck_assert_str_eq(error.found, "2");
    nt_buffer_deinit(&writer.bytes);
}

TEST(a_length_other_than_the_links_is_refused, .first = RNTUPLE_RC1, .end = RNTUPLE_GENERATIONS)
{
    struct rntuple_writer writer;
    struct nt_envelope envelope;
    rntuple_begin(&writer, _i, RNTUPLE_FOOTER);
    rntuple_end(&writer);
    writer.bytes.bytes[2]++;
    uint64_t checksum = nt_xxh3(writer.bytes.bytes, 8);
    memcpy(writer.bytes.bytes + 8, &checksum, 8);
    assert_status(NT_CORRUPT, load(&writer, NT_ENVELOPE_FOOTER, &envelope, &error));
    ck_assert_ptr_nonnull(strstr(error.message, "length"));
    nt_buffer_deinit(&writer.bytes);
}

TEST(a_minimum_version_of_the_future_is_refused)
{
    struct rntuple_writer writer;
    struct nt_envelope envelope;
    rntuple_begin(&writer, RNTUPLE_CRC32_EXTENSION, RNTUPLE_HEADER);
    writer.bytes.bytes[0] = writer.bytes.bytes[2] = 2;
    rntuple_end(&writer);
    assert_status(NT_UNSUPPORTED, load(&writer, NT_ENVELOPE_HEADER, &envelope, &error));
    nt_buffer_deinit(&writer.bytes);
    rntuple_begin(&writer, RNTUPLE_CRC32_EXTENSION, RNTUPLE_HEADER);
    writer.bytes.bytes[0] = 2; /* the writer's own version may be newer */
    rntuple_end(&writer);
    assert_ok(load(&writer, NT_ENVELOPE_HEADER, &envelope, &error));
    nt_envelope_deinit(&envelope);
    nt_buffer_deinit(&writer.bytes);
}

TEST(places_that_cannot_be_are_refused_before_memory_is_taken)
{
    static const struct {
        struct nt_anchor_link place;
        enum nt_status status;
    } rows[] = {
        {{0, 101, 101}, NT_TRUNCATED},
        {{101, 1, 1}, NT_TRUNCATED},
        {{UINT64_MAX, 2, 2}, NT_TRUNCATED},
        {{50, 51, 60}, NT_TRUNCATED},
        {{0, 0, 10}, NT_CORRUPT},
        {{0, 20, 19}, NT_CORRUPT},
        {{0, 20, UINT64_C(1) << 50}, NT_LIMIT},
    };
    static const uint8_t zeros[100];
    struct nt_source *source;
    ck_assert(nt_source_open_memory(zeros, sizeof(zeros), "test", &source, &error) == NT_OK);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct nt_envelope envelope;
        assert_status(rows[i].status, nt_envelope_read(source, &test_budget, NT_ENVELOPE_HEADER,
                                                       &rows[i].place, &envelope, &error));
        ck_assert_uint_eq(error.offset, rows[i].place.offset);
        ck_assert_uint_eq(test_budget.used, 0);
    }
    nt_source_close(source);
}
