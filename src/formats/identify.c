/* SPDX-License-Identifier: MIT
 *
 * Names the type of a file or directory that no supported format accepts, from magic numbers and
 * well-known file names. Used for error messages only.
 */
#include "formats/formats.h"

#include "core/base/built_in.h"
#include "core/base/text.h"

enum { START_BYTES = 512 };

struct magic {
    const char *bytes;
    size_t length;
    size_t offset; /* from the start; if is_tail, the bytes end the file */
    bool is_tail;
    struct nt_file_kind kind;
};

#define MAGIC_OF(bytes, offset, is_tail, kind, format)                                                       \
    {                                                                                                        \
        bytes, sizeof(bytes) - 1, offset, is_tail,                                                           \
        {                                                                                                    \
            kind, format                                                                                     \
        }                                                                                                    \
    }
#define MAGIC(bytes, offset, is_tail, kind) MAGIC_OF(bytes, offset, is_tail, kind, NULL)

#define ZIP "PK\x03\x04"

static const struct magic magics[] = {
    MAGIC("PAR1", 0, false, "a Parquet file"),
    MAGIC("PARE", 0, false, "an encrypted Parquet file"),
    MAGIC("ARROW1", 0, false, "an Arrow IPC (Feather) file"),
    MAGIC("FEA1", 0, false, "a Feather file of version 1"),
    MAGIC_OF("LANC", 0, true, "a Lance file", "lance"),
    MAGIC_OF("root\0", 0, false, "a ROOT file", "rntuple"),
    MAGIC_OF("root\xff", 0, false, "a ROOT file", "rntuple"), /* some have a negative version */
    MAGIC("\x89HDF\r\n\x1a\n", 0, false, "an HDF5 file"),
    MAGIC("CDF\x01", 0, false, "a netCDF file"),
    MAGIC("CDF\x02", 0, false, "a netCDF file"),
    MAGIC("ORC", 0, false, "an ORC file"),
    MAGIC("Obj\x01", 0, false, "an Avro file"),
    MAGIC("SIMPLE  =", 0, false, "a FITS file"),
    MAGIC("\x93NUMPY", 0, false, "a NumPy array"),
    MAGIC("SQLite format 3", 0, false, "an SQLite database"),
    MAGIC_OF("blpk", 0, false, "a Bloscpack file", "blz"),
    MAGIC("\x9e\xa8"
          "b2frame",
          0, false, "a Blosc2 frame (.b2nd, .b2frame)"),
    MAGIC(ZIP, 0, false, "a zip archive"),
    MAGIC("ustar", 257, false, "a tar archive"),
    MAGIC("\x1f\x8b", 0, false, "a gzip file"),
    MAGIC("BZh", 0, false, "a bzip2 file"),
    MAGIC("\xfd"
          "7zXZ",
          0, false, "an xz file"),
    MAGIC("\x28\xb5\x2f\xfd", 0, false, "a Zstandard file"),
    MAGIC("\x04\x22\x4d\x18", 0, false, "an LZ4 file"),
    MAGIC("\x7f"
          "ELF",
          0, false, "an ELF program"),
    MAGIC("%PDF", 0, false, "a PDF document"),
#if !NT_HAS_ROARING /* weak ones: the format's own reader, if built in, gives better errors */
    MAGIC_OF("\x3a\x30\0\0", 0, false, "a Roaring bitmap", "roaring"),
    MAGIC_OF("\x3b\x30", 0, false, "a Roaring bitmap", "roaring"),
    MAGIC_OF("\x3a\x30\0\0", 12, false, "a Roaring bitmap of 64 bits", "roaring"),
    MAGIC_OF("\x3b\x30", 12, false, "a Roaring bitmap of 64 bits", "roaring"),
#endif
};

static bool has_magic(struct nt_source *source, const struct magic *magic)
{
    uint8_t found[16];
    if (source->size < magic->length)
        return false;
    uint64_t offset = magic->is_tail ? source->size - magic->length : magic->offset;
    return !nt_source_read(source, offset, found, magic->length, NULL) &&
           !memcmp(found, magic->bytes, magic->length);
}

static bool is_text(const uint8_t *bytes, size_t length)
{
    for (size_t i = 0; i < length;) {
        uint32_t code_point;
        size_t step = nt_utf8_decode(bytes + i, length - i, &code_point);
        bool is_cut_at_end = !step && length == START_BYTES && length - i < 4;
        if (is_cut_at_end)
            return true;
        if (!step || (code_point < ' ' && !strchr("\t\n\r\f", (int)code_point)) || code_point == 0)
            return false;
        i += step;
    }
    return true;
}

enum nt_status nt_find_text(struct nt_source *source, bool *is_text_ret, struct nt_error *error)
{
    uint8_t start[START_BYTES];
    size_t length = source->size < START_BYTES ? (size_t)source->size : START_BYTES;
    enum nt_status status = nt_source_read(source, 0, start, length, error);
    *is_text_ret = status == NT_OK && is_text(start, length);
    return status;
}

bool nt_is_text_file(struct nt_source *source)
{
    bool is_one;
    return nt_find_text(source, &is_one, NULL) == NT_OK && is_one;
}

/* A file that is a single chunk: the versions of the format and of the compressor, flags, bytes per
 * element; then three 32-bit sizes: decompressed, of a block, and of the whole chunk. */
static const char *identify_chunk(struct nt_source *source)
{
    uint8_t header[16];
    if (source->size < sizeof(header) || nt_source_read(source, 0, header, sizeof(header), NULL) != NT_OK)
        return NULL;
    uint32_t plain_bytes = nt_load_le32(header + 4), block_bytes = nt_load_le32(header + 8);
    if (nt_load_le32(header + 12) != source->size || block_bytes > plain_bytes || header[3] == 0)
        return NULL;
    if (header[0] >= 3 && header[0] <= 5)
        return "a chunk of Blosc2";
    return header[0] == 2 ? "a chunk of Blosc" : NULL;
}

/* Identifies what a zip archive stores by the name of its first file. */
static const char *identify_archive(struct nt_source *source)
{
    static const struct {
        const char *end, *kind;
    } names[] = {
        {".b2nd", "a Blosc2 store in a zip archive"},    {".b2e", "a Blosc2 store in a zip archive"},
        {".b2frame", "a Blosc2 store in a zip archive"}, {"zarr.json", "a Zarr store in a zip archive"},
        {".zarray", "a Zarr store in a zip archive"},    {".zgroup", "a Zarr store in a zip archive"},
        {".zattrs", "a Zarr store in a zip archive"},    {".zmetadata", "a Zarr store in a zip archive"},
    };
    enum { NAME_LENGTH_AT = 26, NAME_AT = 30, MAX_BYTES = 256 };
    uint8_t header[NAME_AT];
    char name[MAX_BYTES];
    if (source->size < NAME_AT || nt_source_read(source, 0, header, NAME_AT, NULL) != NT_OK)
        return NULL;
    size_t length = nt_load_le16(header + NAME_LENGTH_AT);
    if (length > MAX_BYTES || source->size - NAME_AT < length ||
        nt_source_read(source, NAME_AT, name, length, NULL) != NT_OK)
        return NULL;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        size_t end = strlen(names[i].end);
        if (length >= end && !memcmp(name + length - end, names[i].end, end))
            return names[i].kind;
    }
    return NULL;
}

enum nt_status nt_identify_folder(struct nt_folder *folder, struct nt_file_kind *kind_ret,
                                  struct nt_error *error)
{
    static const struct {
        const char *name;
        struct nt_file_kind kind;
    } names[] = {
        {"zarr.json", {"a Zarr store", NULL}},
        {".zarray", {"a Zarr array", NULL}},
        {".zgroup", {"a Zarr group", NULL}},
        {"chunks.b2frame", {"a Blosc2 frame in a directory", NULL}},
        {"embed.b2e", {"a Blosc2 store (.b2d)", NULL}},
        {"_versions", {"a Lance dataset", "lance"}},
        {"meta/storage", {"a BLZ array", "blz"}},
        {"__rootdirs__", {"a BLZ table", "blz"}},
    };
    *kind_ret = (struct nt_file_kind){.text = NULL};
    for (size_t i = 0; !kind_ret->text && i < sizeof(names) / sizeof(*names); i++) {
        bool is_there;
        NT_TRY(nt_folder_has(folder, names[i].name, &is_there, error));
        if (is_there)
            *kind_ret = names[i].kind;
    }
    return NT_OK;
}

struct nt_file_kind nt_identify(struct nt_source *source)
{
    struct nt_file_kind kind = {.text = source->size == 0 ? "an empty file" : identify_chunk(source)};
    for (size_t i = 0; !kind.text && i < sizeof(magics) / sizeof(*magics); i++) {
        if (!has_magic(source, &magics[i]))
            continue;
        const char *archive = !strcmp(magics[i].bytes, ZIP) ? identify_archive(source) : NULL;
        kind = archive ? (struct nt_file_kind){.text = archive} : magics[i].kind;
    }
    if (!kind.text && nt_is_text_file(source))
        kind.text = "a text file";
    return kind;
}
