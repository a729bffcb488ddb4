/* SPDX-License-Identifier: MIT
 *
 * In: codes, and the table of symbols that they stand for, both as Lance stores them. Out: strings. The
 * compression is that of "FSST: Fast Random Access String Compression" (Boncz, Neumann and Leis, VLDB 2020).
 *
 * Symbols are written as 8 bytes whatever their length, as long as there is room: the next one overwrites what
 * is too much. Of eight codes, those up to the first escape are taken at once, and a code that stands for
 * nothing is looked for at the end: its length is 0, so that it does no harm.
 */
#include "codec/tree/fsst.h"

#include <string.h>

#include "base/bytes.h"
#include "base/overflow.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

enum {
    ESCAPE = 255, /* the next byte stands for itself */
    SYMBOL_BYTES = 8,
    GROUP = 8, /* codes that are looked at together */
    COUNT_MASK = 0xFF,
    HAS_CODES = 1 << 24,
    NOTHING = 128, /* what a code measures that stands for nothing: more than eight of those that do not */
};

static const uint32_t magic = 0x46535354; /* "FSST", the letters from the highest byte on */

/* ---- the table ---- */

static enum nt_status load_symbols(struct nt_fsst *fsst, struct nt_cursor *cursor, struct nt_error *error)
{
    for (uint32_t i = 0; i < fsst->count; i++)
        fsst->symbols[i] = nt_get_le64(cursor);
    for (uint32_t i = 0; i < fsst->count; i++)
        fsst->lengths[i] = nt_get_u8(cursor);
    if (cursor->failed)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "bytes of a table of symbols",
                              8 + fsst->count * (SYMBOL_BYTES + UINT64_C(1)), cursor->end);
    for (uint32_t i = 0; i < fsst->count; i++)
        if (fsst->lengths[i] < 1 || fsst->lengths[i] > SYMBOL_BYTES)
            return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "symbol %u has %u bytes, expected 1 to 8", i,
                           fsst->lengths[i]);
    for (uint32_t i = 0; i < ESCAPE; i++)
        fsst->measures[i] = fsst->lengths[i] ? fsst->lengths[i] : NOTHING;
    return NT_OK;
}

enum nt_status nt_fsst_init(struct nt_fsst *fsst, const uint8_t *table, size_t table_bytes,
                            struct nt_error *error)
{
    memset(fsst, 0, sizeof(*fsst));
    struct nt_cursor cursor = nt_cursor(table, table_bytes);
    uint64_t header = nt_get_le64(&cursor);
    if (cursor.failed)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "bytes of a table of symbols", 8, table_bytes);
    if (header >> 32 != magic)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "a table of symbols begins with %08x instead of %08x",
                       (unsigned)(header >> 32), (unsigned)magic);
    fsst->is_plain = !(header & HAS_CODES);
    if (fsst->is_plain)
        return NT_OK;
    fsst->count = header & COUNT_MASK;
    return load_symbols(fsst, &cursor, error);
}

/* ---- how many bytes ---- */

/* Which of eight codes is the first escape, which has all bits set. Of a byte whose complement is 0, subtracting 1
 * borrows, and of none below it. */
ALWAYS_INLINE unsigned before_escape(uint64_t codes)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t escapes = (~codes - ones) & codes & ones << 7;
    return escapes ? (unsigned)__builtin_ctzll(escapes) / 8 : GROUP;
}

/* Of eight codes those from the `count`-th on as escapes. */
ALWAYS_INLINE uint64_t escaped_from(uint64_t codes, uint64_t count)
{
    return count < GROUP ? codes | ~UINT64_C(0) << 8 * count : codes;
}

/* Of a length, 1 where it is 0. */
ALWAYS_INLINE uint8_t is_nothing(uint8_t length)
{
    return (uint8_t)(length - 1) >> 7;
}

static enum nt_status fail_code(const struct nt_fsst *fsst, struct nt_error *error)
{
    return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "a code that none of the %u symbols has", fsst->count);
}

static enum nt_status fail_escape(struct nt_error *error)
{
    return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "a string's codes end within an escape");
}

/* Eight codes, of which `left` are the string's; the others become escapes. `there` bytes can be read. */
ALWAYS_INLINE uint64_t load_codes(const uint8_t *codes, uint64_t left, uint64_t there)
{
    uint8_t last[GROUP];
    if (there >= GROUP)
        return escaped_from(nt_load_le64(codes), left);
    memset(last, ESCAPE, sizeof(last));
    memcpy(last, codes, left < GROUP ? left : GROUP);
    return nt_load_le64(last);
}

/* Bytes that eight codes stand for, escapes for none. */
ALWAYS_INLINE unsigned measure_group(const struct nt_fsst *fsst, uint64_t codes)
{
    unsigned bytes = 0;
    for (unsigned i = 0; i < GROUP; i++)
        bytes += fsst->measures[codes >> 8 * i & 0xFF];
    return bytes;
}

/* False where the last code is an escape. */
ALWAYS_INLINE bool measure(const struct nt_fsst *fsst, const uint8_t *codes, uint64_t bytes, uint64_t there,
                           uint64_t *decoded_ret, unsigned *nothing)
{
    uint64_t decoded = 0, i = 0;
    while (i < bytes) {
        uint64_t left = bytes - i, eight = load_codes(codes + i, left, there - i);
        unsigned count = before_escape(eight), found = measure_group(fsst, escaped_from(eight, count));
        bool is_escape = count < GROUP && count < left;
        decoded += found + is_escape;
        *nothing |= found / NOTHING;
        i += count + 2 * is_escape;
    }
    *decoded_ret = decoded;
    return i == bytes;
}

enum nt_status nt_fsst_decoded_bytes(const struct nt_fsst *fsst, const uint8_t *codes, size_t bytes,
                                     uint64_t *bytes_ret, struct nt_error *error)
{
    unsigned nothing = 0;
    *bytes_ret = bytes;
    if (fsst->is_plain)
        return NT_OK;
    if (!measure(fsst, codes, bytes, bytes, bytes_ret, &nothing))
        return fail_escape(error);
    return nothing ? fail_code(fsst, error) : NT_OK;
}

enum nt_status nt_fsst_ends(const struct nt_fsst *fsst, const uint8_t *codes, const uint64_t *code_ends,
                            uint64_t strings, uint64_t *ends, struct nt_error *error)
{
    unsigned nothing = 0;
    uint64_t start = 0, decoded = 0, end = 0, total = strings ? code_ends[strings - 1] : 0;
    for (uint64_t i = 0; i < strings; i++) {
        decoded = code_ends[i] - start;
        if (!fsst->is_plain && decoded &&
            !measure(fsst, codes + start, decoded, total - start, &decoded, &nothing))
            return fail_escape(error);
        if (!nt_add(end, decoded, &end))
            return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "strings have more bytes than can be counted");
        ends[i] = end;
        start = code_ends[i];
    }
    return nothing ? fail_code(fsst, error) : NT_OK;
}

/* ---- the bytes ---- */

/* Where the decoding is. */
struct place {
    const uint8_t *codes;
    uint8_t *output;
    size_t bytes, room; /* left */
    unsigned nothing;
};

/* `count` codes without an escape, with room for 8 bytes each. Returns where their bytes end. */
ALWAYS_INLINE uint8_t *decode_symbols(const struct nt_fsst *fsst, const uint8_t *codes, unsigned count,
                                      uint8_t *output, unsigned *nothing)
{
    for (unsigned i = 0; i < count; i++) {
        uint8_t length = fsst->lengths[codes[i]];
        memcpy(output, &fsst->symbols[codes[i]], SYMBOL_BYTES);
        *nothing |= is_nothing(length);
        output += length;
    }
    return output;
}

/* While there is room for whatever eight codes stand for. */
static void decode_groups(const struct nt_fsst *fsst, struct place *place)
{
    struct place now = *place;
    while (now.bytes >= GROUP && now.room >= GROUP * SYMBOL_BYTES) {
        unsigned count = before_escape(nt_load_le64(now.codes)), taken = count;
        uint8_t *end;
        if (count == GROUP) { /* a constant, so that there is no loop */
            end = decode_symbols(fsst, now.codes, GROUP, now.output, &now.nothing);
        } else {
            end = decode_symbols(fsst, now.codes, count, now.output, &now.nothing);
            if (count + 1 < GROUP) {
                *end++ = now.codes[count + 1];
                taken += 2;
            }
        }
        now.codes += taken;
        now.bytes -= taken;
        now.room -= (size_t)(end - now.output);
        now.output = end;
    }
    *place = now;
}

/* One code after the other. False where one needs more room than there is, or is an escape without a byte. */
static bool decode_rest(const struct nt_fsst *fsst, struct place *place)
{
    while (place->bytes) {
        bool is_escape = *place->codes == ESCAPE;
        unsigned taken = is_escape ? 2 : 1;
        size_t length = is_escape ? 1 : fsst->lengths[*place->codes];
        if (length > place->room || taken > place->bytes)
            return false;
        place->nothing |= length == 0;
        memcpy(place->output, is_escape ? place->codes + 1 : (const uint8_t *)&fsst->symbols[*place->codes],
               length);
        place->codes += taken;
        place->bytes -= taken;
        place->output += length;
        place->room -= length;
    }
    return true;
}

static enum nt_status fail_size(size_t expected, struct nt_error *error)
{
    return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "codes do not stand for the expected %zu bytes",
                   expected);
}

enum nt_status nt_fsst_decode(const struct nt_fsst *fsst, const uint8_t *codes, size_t bytes, uint8_t *output,
                              size_t output_bytes, struct nt_error *error)
{
    if (fsst->is_plain) {
        if (bytes != output_bytes)
            return fail_size(output_bytes, error);
        if (bytes)
            memcpy(output, codes, bytes);
        return NT_OK;
    }
    struct place place = {codes, output, bytes, output_bytes, 0};
    decode_groups(fsst, &place);
    if (!decode_rest(fsst, &place))
        return place.bytes == 1 && *place.codes == ESCAPE ? fail_escape(error)
                                                          : fail_size(output_bytes, error);
    if (place.nothing)
        return fail_code(fsst, error);
    return place.room ? fail_size(output_bytes, error) : NT_OK;
}
