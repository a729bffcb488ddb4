/* SPDX-License-Identifier: MIT
 *
 * In: codes, and the table of symbols that they stand for, both as Lance stores them. Out: strings. The
 * compression is that of "FSST: Fast Random Access String Compression" (Boncz, Neumann and Leis, VLDB 2020).
 *
 * Codes are taken eight at a time where all of them are symbols, which one comparison tells; others one by one. Symbols are
 * written as 8 bytes whatever their length, as long as there is room: the next one overwrites what is too much.
 */
#include "codec/tree/fsst.h"

#include <string.h>

#include "base/bytes.h"
#include "base/overflow.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

enum {
    ESCAPE = 255, /* the next byte stands for itself */
    SYMBOL_BYTES = 8,
    GROUP = 8,   /* codes that are looked at together */
    SPAN = 4096, /* codes that are measured together: their bytes are counted in 16 bits */
    COUNT_MASK = 0xFF,
    HAS_CODES = 1 << 24,
};
_Static_assert(SPAN *SYMBOL_BYTES <= UINT16_MAX && SPAN % GROUP == 0,
               "what a span stands for can be counted");

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

/* ---- eight codes ---- */

/* Whether all of eight codes are symbols. Their number is at most 255, so that escapes are none. */
ALWAYS_INLINE bool are_symbols(const struct nt_fsst *fsst, uint64_t codes)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), highest = ones << 7;
    uint64_t past, count = fsst->count, low = codes & ~highest;
    if (count < 128) /* the lower 7 bits carry into the highest, or it is set */
        past = (low + ones * (128 - count)) | codes;
    else /* both */
        past = (low + ones * (256 - count)) & codes;
    return !(past & highest);
}

static enum nt_status fail_code(const struct nt_fsst *fsst, struct nt_error *error)
{
    return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "a code that none of the %u symbols has", fsst->count);
}

static enum nt_status fail_escape(struct nt_error *error)
{
    return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "a string's codes end within an escape");
}

/* ---- how many bytes ---- */

/* What the codes of a span stand for. */
struct measuring {
    const struct nt_fsst *fsst;
    bool is_escaped;  /* the next code stands for itself */
    bool has_nothing; /* a code stood for nothing */
    uint16_t ends
        [SPAN]; /* where each code's bytes end, counted from the span's first; an escape's are those of the code behind it */
};

/* Up to eight codes, one by one. Returns where their bytes end. */
static unsigned measure_some(struct measuring *span, const uint8_t *codes, unsigned count, unsigned end,
                             uint16_t *ends)
{
    for (unsigned i = 0; i < count; i++) {
        bool is_escape = !span->is_escaped && codes[i] == ESCAPE;
        unsigned length = is_escape ? 0 : span->is_escaped ? 1 : span->fsst->lengths[codes[i]];
        span->has_nothing |= !length && !is_escape;
        span->is_escaped = is_escape;
        ends[i] = (uint16_t)(end += length);
    }
    return end;
}

ALWAYS_INLINE unsigned measure_symbols(const struct nt_fsst *fsst, const uint8_t *codes, unsigned end,
                                       uint16_t *ends)
{
    for (unsigned i = 0; i < GROUP; i++)
        ends[i] = (uint16_t)(end += fsst->lengths[codes[i]]);
    return end;
}

/* Returns where the bytes of all end. */
static unsigned measure_span(struct measuring *span, const uint8_t *codes, size_t count)
{
    unsigned end = 0;
    for (size_t i = 0; i < count; i += GROUP) {
        bool is_group = count - i >= GROUP;
        if (is_group && !span->is_escaped && are_symbols(span->fsst, nt_load_le64(codes + i)))
            end = measure_symbols(span->fsst, codes + i, end, span->ends + i);
        else
            end =
                measure_some(span, codes + i, is_group ? GROUP : (unsigned)(count - i), end, span->ends + i);
    }
    return end;
}

/* Whether the last of some codes is an escape: of those in a row every other one is, from the first on. */
static bool ends_in_escape(const uint8_t *codes, uint64_t first, uint64_t end)
{
    uint64_t escapes = 0;
    while (end > first && codes[--end] == ESCAPE)
        escapes++;
    return escapes % 2;
}

enum nt_status nt_fsst_ends(const struct nt_fsst *fsst, const uint8_t *codes, const uint64_t *code_ends,
                            uint64_t strings, uint64_t *ends, struct nt_error *error)
{
    struct measuring span; /* whose table is large, and filled as far as it is used */
    uint64_t total = strings ? code_ends[strings - 1] : 0, decoded = 0, i = 0, start = 0;
    if (fsst->is_plain) {
        if (strings)
            memcpy(ends, code_ends, strings * sizeof(*ends));
        return NT_OK;
    }
    span.fsst = fsst;
    span.is_escaped = span.has_nothing = false;
    for (; i < strings && !code_ends[i]; i++)
        ends[i] = 0;
    for (uint64_t first = 0; first < total; first += SPAN) {
        size_t count = total - first < SPAN ? (size_t)(total - first) : SPAN;
        unsigned bytes = measure_span(&span, codes + first, count);
        for (; i < strings && code_ends[i] - first <= count; start = code_ends[i++]) {
            uint64_t last = code_ends[i] - 1;
            if (codes[last] == ESCAPE && ends_in_escape(codes, start, last + 1))
                return fail_escape(error);
            ends[i] = decoded + span.ends[last - first];
        }
        if (!nt_add(decoded, bytes, &decoded))
            return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "strings have more bytes than can be counted");
    }
    return span.has_nothing ? fail_code(fsst, error) : NT_OK;
}

/* ---- the bytes ---- */

/* Where the decoding is. */
struct place {
    const uint8_t *codes;
    uint8_t *output;
    size_t bytes, room; /* left */
    bool has_nothing;
};

/* Eight symbols, with room for 8 bytes each. Returns where their bytes end. */
ALWAYS_INLINE uint8_t *decode_symbols(const struct nt_fsst *fsst, uint64_t codes, uint8_t *output)
{
#pragma GCC unroll 8
    for (unsigned i = 0; i < GROUP; i++) {
        unsigned code = codes >> 8 * i & 0xFF;
        memcpy(output, &fsst->symbols[code], SYMBOL_BYTES);
        output += fsst->lengths[code];
    }
    return output;
}

/* One code, with the byte behind an escape. False where it needs more room than there is, or is an escape without a byte. */
static bool decode_one(const struct nt_fsst *fsst, struct place *place)
{
    bool is_escape = *place->codes == ESCAPE;
    unsigned taken = is_escape ? 2 : 1;
    size_t length = is_escape ? 1 : fsst->lengths[*place->codes];
    if (length > place->room || taken > place->bytes)
        return false;
    place->has_nothing |= length == 0;
    memcpy(place->output, is_escape ? place->codes + 1 : (const uint8_t *)&fsst->symbols[*place->codes],
           length);
    place->codes += taken;
    place->bytes -= taken;
    place->output += length;
    place->room -= length;
    return true;
}

/* While there is room for whatever eight codes stand for. */
static void decode_groups(const struct nt_fsst *fsst, struct place *place)
{
    struct place now = *place;
    while (now.bytes >= GROUP && now.room >= GROUP * SYMBOL_BYTES) {
        uint64_t codes = nt_load_le64(now.codes);
        if (!are_symbols(fsst, codes)) {
            for (const uint8_t *end = now.codes + GROUP; now.codes < end && decode_one(fsst, &now);)
                ;
            continue;
        }
        uint8_t *end = decode_symbols(fsst, codes, now.output);
        now.codes += GROUP;
        now.bytes -= GROUP;
        now.room -= (size_t)(end - now.output);
        now.output = end;
    }
    *place = now;
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
    struct place place = {codes, output, bytes, output_bytes, false};
    decode_groups(fsst, &place);
    while (place.bytes && decode_one(fsst, &place))
        ;
    if (place.bytes)
        return place.bytes == 1 && *place.codes == ESCAPE ? fail_escape(error)
                                                          : fail_size(output_bytes, error);
    if (place.has_nothing)
        return fail_code(fsst, error);
    return place.room ? fail_size(output_bytes, error) : NT_OK;
}
