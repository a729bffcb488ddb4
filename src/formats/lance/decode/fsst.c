/* SPDX-License-Identifier: MIT
 *
 * Decodes FSST (Fast Static Symbol Table) compressed strings and reads the symbol tables that Lance
 * stores.
 */
#include "formats/lance/decode/decode.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

enum {
    ESCAPE = 255, /* the next byte is a literal */
    SYMBOL_BYTES = 8,
    GROUP = 8,   /* codes that are processed together */
    SPAN = 4096, /* codes that are measured together; their bytes are counted in 16 bits */
    COUNT_MASK = 0xFF,
    HAS_CODES = 1 << 24,
};
_Static_assert(SPAN *SYMBOL_BYTES <= UINT16_MAX && SPAN % GROUP == 0,
               "the length of a span fits its counter");

static const uint32_t magic = 0x46535354; /* "FSST", the first letter in the highest byte */

/* ---- The table ---- */

static enum nt_status load_symbols(struct nt_fsst *fsst, struct nt_cursor *cursor, struct nt_error *error)
{
    for (uint32_t i = 0; i < fsst->count; i++)
        fsst->symbols[i] = nt_get_le64(cursor);
    for (uint32_t i = 0; i < fsst->count; i++)
        fsst->lengths[i] = nt_get_u8(cursor);
    if (cursor->failed)
        return nt_fail_below(error, NT_CORRUPT, NT_NO_OFFSET, "bytes of a symbol table",
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
        return nt_fail_below(error, NT_CORRUPT, NT_NO_OFFSET, "bytes of a symbol table", 8, table_bytes);
    if (header >> 32 != magic)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "the symbol table begins with %08x instead of %08x",
                       (unsigned)(header >> 32), (unsigned)magic);
    fsst->is_plain = !(header & HAS_CODES);
    if (fsst->is_plain)
        return NT_OK;
    fsst->count = header & COUNT_MASK;
    return load_symbols(fsst, &cursor, error);
}

/* ---- Groups of eight codes ---- */

/* Tests whether all of eight codes are symbols. There are at most 255 symbols, so escapes never are. */
struct group_test {
    uint64_t added;
    bool is_half; /* fewer than 128 codes are symbols */
};

static struct group_test group_test(const struct nt_fsst *fsst)
{
    bool is_half = fsst->count < 128;
    return (struct group_test){UINT64_C(0x0101010101010101) * ((is_half ? 128 : 256) - fsst->count), is_half};
}

/* A code is past the symbols if bit 7 is set, or its low 7 bits plus `added` carry into bit 7; if not
 * is_half, only if both hold. */
ALWAYS_INLINE bool are_symbols(struct group_test test, uint64_t codes)
{
    const uint64_t highest = UINT64_C(0x8080808080808080);
    uint64_t carried = (codes & ~highest) + test.added;
    return !((test.is_half ? carried | codes : carried & codes) & highest);
}

static enum nt_status fail_code(const struct nt_fsst *fsst, struct nt_error *error)
{
    return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "a code is unknown: there are %u symbols", fsst->count);
}

static enum nt_status fail_escape(struct nt_error *error)
{
    return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "the codes of a string end within an escape");
}

/* ---- Decoded sizes ---- */

/* The decoded size of a span of codes. */
struct span_size {
    const struct nt_fsst *fsst;
    bool is_escaped;     /* the next code is a literal */
    bool has_nothing;    /* a code was undefined */
    uint16_t ends[SPAN]; /* where each code's bytes end, from the span's start; unused for escapes */
};

/* Measures up to eight codes, one by one. Returns where their bytes end. */
static unsigned measure_some(struct span_size *span, const uint8_t *codes, unsigned count, unsigned end,
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

/* Returns where the bytes of all codes end. */
static unsigned measure_span(struct span_size *span, const uint8_t *codes, size_t count)
{
    const struct group_test test = group_test(span->fsst);
    unsigned end = 0;
    for (size_t i = 0; i < count; i += GROUP) {
        bool is_group = count - i >= GROUP;
        if (is_group && !span->is_escaped && are_symbols(test, nt_load_le64(codes + i)))
            end = measure_symbols(span->fsst, codes + i, end, span->ends + i);
        else
            end =
                measure_some(span, codes + i, is_group ? GROUP : (unsigned)(count - i), end, span->ends + i);
    }
    return end;
}

/* Is the last code an escape? In a run of ESCAPE bytes, every other one is, starting with the first. */
static bool ends_in_escape(const uint8_t *codes, uint64_t first, uint64_t end)
{
    uint64_t escapes = 0;
    while (end > first && codes[--end] == ESCAPE)
        escapes++;
    return escapes % 2;
}

/* Progress of computing the ends of strings. */
struct string_ends {
    const uint8_t *codes;
    const uint64_t *code_ends;
    uint64_t strings, *ends;
    uint64_t measured, start; /* strings done, and where the next one's codes begin */
    uint16_t base;            /* subtracted from the ends of a span */
};

static void skip_empty(struct string_ends *at)
{
    while (at->measured < at->strings && !at->code_ends[at->measured])
        at->ends[at->measured++] = 0;
}

/* Sets the ends of the strings whose last code is one of the `count` codes from `first`. `span` has
 * the end of each code, relative to `decoded`. False if a string ends within an escape. */
static bool measure_ends(struct string_ends *at, uint64_t first, size_t count, uint64_t decoded,
                         const uint16_t *span)
{
    uint64_t i = at->measured, start = at->start;
    for (; i < at->strings && at->code_ends[i] - first <= count; start = at->code_ends[i++]) {
        uint64_t last = at->code_ends[i] - 1;
        if (at->codes[last] == ESCAPE && ends_in_escape(at->codes, start, last + 1))
            return false;
        at->ends[i] = decoded + (uint16_t)(span[last - first] - at->base);
    }
    at->measured = i;
    at->start = start;
    return true;
}

enum nt_status nt_fsst_ends(const struct nt_fsst *fsst, const uint8_t *codes, const uint64_t *code_ends,
                            uint64_t strings, uint64_t *ends, struct nt_error *error)
{
    struct span_size span; /* not initialized: its table is large, and only the used part is filled */
    struct string_ends at = {.codes = codes, .code_ends = code_ends, .strings = strings, .ends = ends};
    uint64_t total = strings ? code_ends[strings - 1] : 0, decoded = 0;
    if (fsst->is_plain) {
        if (strings)
            memcpy(ends, code_ends, strings * sizeof(*ends));
        return NT_OK;
    }
    span.fsst = fsst;
    span.is_escaped = span.has_nothing = false;
    skip_empty(&at);
    for (uint64_t first = 0; first < total; first += SPAN) {
        size_t count = total - first < SPAN ? (size_t)(total - first) : SPAN;
        unsigned bytes = measure_span(&span, codes + first, count);
        if (!measure_ends(&at, first, count, decoded, span.ends))
            return fail_escape(error);
        if (!nt_checked_add(decoded, bytes, &decoded))
            return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "the size of the strings overflows");
    }
    return span.has_nothing ? fail_code(fsst, error) : NT_OK;
}

/* ---- Decoding ---- */

enum { MAX_PAST = 2 * GROUP }; /* codes that a span can overrun by: the last group, and escaped bytes */
_Static_assert((SPAN + MAX_PAST) * SYMBOL_BYTES <= UINT16_MAX, "the length of a span fits its counter");

/* The position of the decoder. */
struct fsst_position {
    const uint8_t *codes, *codes_end;
    uint8_t *output, *output_end;
    bool has_nothing;
    /* Receives each code's end, as the low bits of the output address; NULL: not requested. */
    uint16_t *ends;
};

/* Decodes eight symbols; each needs room for 8 bytes. Returns where their bytes end. */
ALWAYS_INLINE uint8_t *decode_symbols(const struct nt_fsst *fsst, uint64_t codes, uint8_t *output,
                                      uint16_t *ends)
{
#pragma GCC unroll 8
    for (unsigned i = 0; i < GROUP; i++) {
        unsigned code = codes >> 8 * i & 0xFF;
        memcpy(output, &fsst->symbols[code], SYMBOL_BYTES);
        output += fsst->lengths[code];
        if (ends)
            ends[i] = (uint16_t)(uintptr_t)output;
    }
    return output;
}

/* Decodes a code, or an escape and its literal. False if the output is full or the literal missing. */
static bool decode_one(const struct nt_fsst *fsst, struct fsst_position *position)
{
    bool is_escape = *position->codes == ESCAPE;
    unsigned taken = is_escape ? 2 : 1;
    size_t length = is_escape ? 1 : fsst->lengths[*position->codes];
    if (length > (size_t)(position->output_end - position->output) ||
        taken > position->codes_end - position->codes)
        return false;
    position->has_nothing |= length == 0;
    memcpy(position->output,
           is_escape ? position->codes + 1 : (const uint8_t *)&fsst->symbols[*position->codes], length);
    position->codes += taken;
    position->output += length;
    for (; position->ends && taken; taken--)
        *position->ends++ = (uint16_t)(uintptr_t)position->output;
    return true;
}

/* Decodes eight codes, and one more if they end within an escape. False if they cannot be decoded. */
static bool decode_some(const struct nt_fsst *fsst, struct fsst_position *position)
{
    const uint8_t *end = position->codes + GROUP;
    while (position->codes < end)
        if (!decode_one(fsst, position))
            return false;
    return true;
}

/* Decodes codes up to `stop` or slightly past it, while any eight symbols fit. `measures`: sets `ends`. */
ALWAYS_INLINE void decode_groups(const struct nt_fsst *fsst, struct fsst_position *position,
                                 const uint8_t *stop, bool measures)
{
    const struct group_test test = group_test(fsst);
    const uint8_t *codes = position->codes, *const codes_end = position->codes_end;
    uint8_t *output = position->output, *const output_end = position->output_end;
    uint16_t *ends = position->ends;
    while (codes < stop && codes_end - codes >= GROUP && output_end - output >= GROUP * SYMBOL_BYTES) {
        uint64_t group = nt_load_le64(codes);
        if (are_symbols(test, group)) {
            output = decode_symbols(fsst, group, output, measures ? ends : NULL);
            codes += GROUP;
            if (measures)
                ends += GROUP;
            continue;
        }
        struct fsst_position now = {codes, codes_end, output, output_end, position->has_nothing, ends};
        bool are_decoded = decode_some(fsst, &now);
        position->has_nothing = now.has_nothing;
        codes = now.codes;
        output = now.output;
        ends = now.ends;
        if (!are_decoded)
            break;
    }
    position->codes = codes;
    position->output = output;
    position->ends = ends;
}

static enum nt_status fail_size(size_t expected, struct nt_error *error)
{
    return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "the codes do not decode to the expected %zu bytes",
                   expected);
}

/* Checks that decoding ended exactly at the end of both input and output. */
static enum nt_status check_end(const struct nt_fsst *fsst, const struct fsst_position *position,
                                size_t output_bytes, struct nt_error *error)
{
    ptrdiff_t left = position->codes_end - position->codes;
    if (left)
        return left == 1 && *position->codes == ESCAPE ? fail_escape(error) : fail_size(output_bytes, error);
    if (position->has_nothing)
        return fail_code(fsst, error);
    return position->output < position->output_end ? fail_size(output_bytes, error) : NT_OK;
}

static enum nt_status copy_plain(const uint8_t *codes, size_t bytes, uint8_t *output, size_t output_bytes,
                                 struct nt_error *error)
{
    if (bytes != output_bytes)
        return fail_size(output_bytes, error);
    if (bytes)
        memcpy(output, codes, bytes);
    return NT_OK;
}

/* Returns the position at the start of all codes and all output. Both may be empty and NULL. */
static struct fsst_position first_position(const uint8_t *codes, size_t bytes, uint8_t *output,
                                           size_t output_bytes)
{
    return (struct fsst_position){.codes = codes,
                                  .codes_end = bytes ? codes + bytes : codes,
                                  .output = output,
                                  .output_end = output_bytes ? output + output_bytes : output};
}

enum nt_status nt_fsst_decode(const struct nt_fsst *fsst, const uint8_t *codes, size_t bytes, uint8_t *output,
                              size_t output_bytes, struct nt_error *error)
{
    if (fsst->is_plain)
        return copy_plain(codes, bytes, output, output_bytes, error);
    struct fsst_position position = first_position(codes, bytes, output, output_bytes);
    decode_groups(fsst, &position, position.codes_end, false);
    while (position.codes < position.codes_end && decode_one(fsst, &position))
        ;
    return check_end(fsst, &position, output_bytes, error);
}

enum nt_status nt_fsst_expand(const struct nt_fsst *fsst, const uint8_t *codes, const uint64_t *code_ends,
                              uint64_t strings, uint8_t *output, size_t output_bytes, uint64_t *ends,
                              struct nt_error *error)
{
    uint16_t span[SPAN + MAX_PAST];
    struct string_ends at = {.codes = codes, .code_ends = code_ends, .strings = strings, .ends = ends};
    size_t bytes = strings ? (size_t)code_ends[strings - 1] : 0;
    struct fsst_position position = first_position(codes, bytes, output, output_bytes);
    if (fsst->is_plain && strings)
        memcpy(ends, code_ends, strings * sizeof(*ends));
    if (fsst->is_plain)
        return copy_plain(codes, bytes, output, output_bytes, error);
    skip_empty(&at);
    while (position.codes < position.codes_end) {
        const uint8_t *first = position.codes, *start = position.output;
        const uint8_t *stop = position.codes_end - first < SPAN ? position.codes_end : first + SPAN;
        position.ends = span;
        decode_groups(fsst, &position, stop, true);
        while (position.codes < stop && decode_one(fsst, &position))
            ;
        if (position.codes < stop)
            break;
        at.base = (uint16_t)(uintptr_t)start;
        if (!measure_ends(&at, (uint64_t)(first - codes), (size_t)(position.codes - first),
                          (uint64_t)(start - output), span))
            return fail_escape(error);
    }
    return check_end(fsst, &position, output_bytes, error);
}
