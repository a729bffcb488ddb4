/* SPDX-License-Identifier: MIT
 *
 * The bounds-checked reader: the only way in which bytes of a file become numbers and texts. A cursor walks
 * over [position, end); a read past the end gives zeros and makes the cursor fail for good, so that a caller
 * may read a whole record and check once. Who reads may tell what it was to an observer, if somebody listens.
 */
#ifndef NT_BASE_BYTES_H
#define NT_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Is told what bytes are: `what` of `whole`, e.g. "version" of "field". Both live for ever. */
struct nt_read_observer {
    void (*tell)(struct nt_read_observer *observer, size_t position, size_t count, const char *whole,
                 const char *what);
};

struct nt_cursor {
    const uint8_t *bytes;
    size_t position;
    size_t end;
    bool failed;
    size_t told;                       /* what lies before was told, while somebody listens */
    struct nt_read_observer *observer; /* NULL: nobody listens */
};

static inline struct nt_cursor nt_cursor(const void *bytes, size_t size)
{
    return (struct nt_cursor){.bytes = bytes, .position = 0, .end = size, .failed = false};
}

static inline size_t nt_cursor_left(const struct nt_cursor *cursor)
{
    return cursor->failed ? 0 : cursor->end - cursor->position;
}

/* `count` bytes, or NULL (and failure) where fewer are left. */
static inline const uint8_t *nt_get_bytes(struct nt_cursor *cursor, size_t count)
{
    if (cursor->failed || count > cursor->end - cursor->position) {
        cursor->failed = true;
        return NULL;
    }
    const uint8_t *bytes = cursor->bytes + cursor->position;
    cursor->position += count;
    return bytes;
}

static inline bool nt_skip(struct nt_cursor *cursor, uint64_t count)
{
    if (cursor->failed || count > cursor->end - cursor->position) {
        cursor->failed = true;
        return false;
    }
    cursor->position += (size_t)count;
    return true;
}

/* A cursor over the next `count` bytes, which are skipped here. Failed where fewer are left. */
static inline struct nt_cursor nt_get_cursor(struct nt_cursor *cursor, uint64_t count)
{
    struct nt_cursor part = *cursor;
    if (!nt_skip(cursor, count)) {
        part.failed = true;
        return part;
    }
    part.end = part.position + (size_t)count;
    part.told = part.position;
    cursor->told = cursor->position;
    return part;
}

/* Say what the bytes are that were read since the last time. */
static inline void nt_tell(struct nt_cursor *cursor, const char *whole, const char *what)
{
    if (!cursor->observer)
        return;
    if (!cursor->failed && cursor->told < cursor->position)
        cursor->observer->tell(cursor->observer, cursor->told, cursor->position - cursor->told, whole, what);
    cursor->told = cursor->position;
}

static inline uint16_t nt_load_le16(const uint8_t *bytes)
{
    return (uint16_t)(bytes[0] | bytes[1] << 8);
}

static inline uint32_t nt_load_le32(const uint8_t *bytes)
{
    return (uint32_t)nt_load_le16(bytes) | (uint32_t)nt_load_le16(bytes + 2) << 16;
}

static inline uint64_t nt_load_le64(const uint8_t *bytes)
{
    return (uint64_t)nt_load_le32(bytes) | (uint64_t)nt_load_le32(bytes + 4) << 32;
}

static inline uint16_t nt_load_be16(const uint8_t *bytes)
{
    return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

static inline uint32_t nt_load_be32(const uint8_t *bytes)
{
    return (uint32_t)nt_load_be16(bytes) << 16 | (uint32_t)nt_load_be16(bytes + 2);
}

static inline uint64_t nt_load_be64(const uint8_t *bytes)
{
    return (uint64_t)nt_load_be32(bytes) << 32 | (uint64_t)nt_load_be32(bytes + 4);
}

#define NT_DEFINE_GET(name, type, load)                                                                      \
    static inline type name(struct nt_cursor *cursor)                                                        \
    {                                                                                                        \
        const uint8_t *bytes = nt_get_bytes(cursor, sizeof(type));                                           \
        return bytes ? load(bytes) : 0;                                                                      \
    }

static inline uint8_t nt_get_u8(struct nt_cursor *cursor)
{
    const uint8_t *bytes = nt_get_bytes(cursor, 1);
    return bytes ? *bytes : 0;
}

NT_DEFINE_GET(nt_get_le16, uint16_t, nt_load_le16)
NT_DEFINE_GET(nt_get_le32, uint32_t, nt_load_le32)
NT_DEFINE_GET(nt_get_le64, uint64_t, nt_load_le64)
NT_DEFINE_GET(nt_get_be16, uint16_t, nt_load_be16)
NT_DEFINE_GET(nt_get_be32, uint32_t, nt_load_be32)
NT_DEFINE_GET(nt_get_be64, uint64_t, nt_load_be64)

#undef NT_DEFINE_GET

static inline double nt_get_le_real64(struct nt_cursor *cursor)
{
    uint64_t bits = nt_get_le64(cursor);
    double value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

#endif
