/* SPDX-License-Identifier: MIT
 *
 * Decodes stored bytes into elements: tables of checksums, compression formats and page encodings, and
 * the decompressors.
 */
#pragma once

#include <ntuple/element.h>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/base/memory.h"

struct nt_codec_context;
struct nt_inflater;
struct nt_packed;
struct nt_page;

/* ---- Elements ---- */

/* Converts `count` elements by value, e.g. Real32 -> Real64 or Bit -> int32. Same-size signed/unsigned
 * integers keep their bits (old drafts store signed fields under unsigned ids). An integer that does
 * not fit is NT_CORRUPT, with the element's index in the message. For BOOL, all values except 0 become
 * 1. Reals round to nearest, as in C. All pairs of numbers convert except reals to integers;
 * nt_element_can_convert reports this. */
bool nt_element_can_convert(enum nt_element from, enum nt_element to);
enum nt_status nt_element_convert(enum nt_element from, const void *input, enum nt_element to, void *output,
                                  size_t count, struct nt_error *error);

/* ---- Checksums ---- */

enum nt_checksum_kind {
    NT_CHECKSUM_NONE,
    NT_CHECKSUM_XXH3_64, /* little-endian u64 */
    NT_CHECKSUM_CRC32,   /* zlib's, little-endian u32 */
    NT_CHECKSUM_ADLER32,
    NT_CHECKSUM_MD5,
    NT_CHECKSUM_SHA1,
    NT_CHECKSUM_SHA224,
    NT_CHECKSUM_SHA256,
    NT_CHECKSUM_SHA384,
    NT_CHECKSUM_SHA512,
    NT_CHECKSUM_COUNT
};

struct nt_checksum {
    const char *name; /* as in JSON and extended attributes: "xxh3-64", "crc32", "none" */
    uint32_t bytes;   /* as stored, little-endian for integers */
    bool is_integer;
    /* NULL for NT_CHECKSUM_NONE, and for digests in a build without BLZ. */
    void (*compute)(const void *data, size_t bytes, uint8_t *digest);
};

/* The description of a kind; never NULL for a member of the enum. */
const struct nt_checksum *nt_checksum_info(enum nt_checksum_kind kind);
uint64_t nt_xxh3(const void *data, size_t bytes);
/* Depends on the seed: without it, nobody can construct two inputs with the same hash. */
uint64_t nt_xxh3_seeded(const void *data, size_t bytes, uint64_t seed);
/* By the deflate library. */
uint32_t nt_crc32(const void *data, size_t bytes);
uint32_t nt_adler32(const void *data, size_t bytes);

/* Fuzz targets can disable the comparison of checksums, to reach the code after it. */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
extern bool nt_accepts_any_checksum;
#define NT_COMPARES_CHECKSUMS (!nt_accepts_any_checksum)
#else
#define NT_COMPARES_CHECKSUMS true
#endif

/* Formats a stored checksum as people and other tools do: integers start with the highest digit. */
enum { NT_CHECKSUM_TEXT = 129 };
void nt_checksum_text(enum nt_checksum_kind kind, const uint8_t *stored, char text[NT_CHECKSUM_TEXT]);

/* NT_OK if `stored` is the checksum of `data`, else NT_CHECKSUM with both as hex. */
enum nt_status nt_checksum_verify(enum nt_checksum_kind kind, const void *data, size_t bytes,
                                  const uint8_t *stored, uint64_t offset, struct nt_error *error);

/* ---- algorithms: named by the stored bytes ---- */

enum nt_algorithm {
    NT_ALGORITHM_NONE, /* stored as they are */
    NT_ALGORITHM_ZSTD,
    NT_ALGORITHM_LZ4,
    NT_ALGORITHM_ZLIB,
    NT_ALGORITHM_OLD_ZLIB, /* ROOT's "CS": deflate without zlib's header */
    NT_ALGORITHM_LZMA,
    NT_ALGORITHM_BLOSCLZ,
    NT_ALGORITHM_SNAPPY,
    NT_ALGORITHM_ELSEWHERE, /* the bytes are not in this source */
    NT_ALGORITHM_UNKNOWN,
    NT_ALGORITHM_COUNT
};

enum { NT_ALGORITHM_NAME = 9 };                             /* the longest name */
const char *nt_algorithm_name(enum nt_algorithm algorithm); /* "none", "zstd", "old-zlib", ... */

/* ---- Compression ---- */
struct nt_codec_context *nt_codec_context_new(void); /* NULL without memory */
void nt_codec_context_free(struct nt_codec_context *context);
NT_DEFINE_CLEANUP(struct nt_codec_context, nt_codec_context_free)
size_t nt_codec_context_bytes(const struct nt_codec_context *context); /* approximate memory in use */
/* Users of scratch memory; each may use it for one page at the same time. */
enum nt_scratch {
    NT_SCRATCH_PAGE,      /* stored and packed bytes of a page being loaded */
    NT_SCRATCH_COALESCED, /* stored bytes of coalesced pages */
    NT_SCRATCH_CHUNK,     /* a decompressor's output that exceeds the request */
    NT_SCRATCH_TREE,      /* intermediate results of nested encodings */
    NT_SCRATCH_COUNT
};
/* At least `bytes` of scratch memory, valid until the next call for `of`. NULL without memory. */
uint8_t *nt_codec_scratch(struct nt_codec_context *context, enum nt_scratch of, size_t bytes);
size_t nt_codec_scratch_bytes(const struct nt_codec_context *context, enum nt_scratch of); /* in use */

/* The inflate library and the version at build time: "libdeflate 1.14", "zlib 1.2.13". */
const char *nt_deflate_library(void);
/* The version of the loaded liblzma. */
const char *nt_lzma_version(void);

enum nt_compression_kind {
    NT_COMPRESSION_NONE,
    /* A chain of blocks with 9-byte headers, of any algorithm; stored if the sizes are equal. */
    NT_COMPRESSION_ROOT_BLOCKS,
    /* The record of a basket of a TTree: a key, then such blocks, which its decoder decompresses. */
    NT_COMPRESSION_ROOT_BASKET,
    NT_COMPRESSION_BLOSC,       /* the first bytes of one c-blosc 1 chunk */
    NT_COMPRESSION_BLOSC_WHOLE, /* exactly one c-blosc 1 chunk */
    NT_COMPRESSION_ELSEWHERE,   /* the bytes are elsewhere (URI, object store): reading fails */
    NT_COMPRESSION_COUNT
};

enum { NT_COMPRESSION_START = 512 };

struct nt_compression {
    const char *name;
    bool stores_plain; /* if stored and packed sizes are equal, so are the bytes */
    /* `output_bytes` is known in advance: shorter or longer output is NT_CORRUPT. */
    enum nt_status (*decompress)(const uint8_t *input, size_t input_bytes, uint8_t *output,
                                 size_t output_bytes, struct nt_codec_context *context,
                                 struct nt_error *error);
    /* The algorithm according to the stored bytes. `start` has only the first NT_COMPRESSION_START of the
     * `input_bytes` (or all if fewer). NULL: always `only_algorithm`. */
    enum nt_algorithm (*algorithm)(const uint8_t *start, size_t input_bytes, size_t output_bytes);
    enum nt_algorithm only_algorithm;
    /* The size of output blocks that can be decompressed separately, from the stored bytes (`start` as
     * above); 0: not possible. The last block may be shorter. Not checked beyond the header. NULL for
     * algorithms without blocks; then `decompress_blocks` is NULL, too. */
    size_t (*block_bytes)(const uint8_t *start, size_t input_bytes, size_t output_bytes);
    /* Decompresses only bytes [offset, offset + bytes) of the `output_bytes`, from all stored bytes.
     * Both ends are multiples of `block_bytes` or the end of the output, else NT_UNSUPPORTED. May miss
     * damage in other blocks. Needs no context; thread-safe. */
    enum nt_status (*decompress_blocks)(const uint8_t *input, size_t input_bytes, size_t output_bytes,
                                        size_t offset, uint8_t *output, size_t bytes, struct nt_error *error);
};

const struct nt_compression *nt_compression_info(enum nt_compression_kind kind);
/* Decompresses ROOT blocks with a context of its own, for single objects. */
enum nt_status nt_decompress_root_object(const uint8_t *input, size_t input_bytes, uint8_t *output,
                                         size_t output_bytes, struct nt_error *error);
/* The algorithm of stored bytes, from the `algorithm` function of the kind (same arguments). */
enum nt_algorithm nt_compression_algorithm(enum nt_compression_kind kind, const uint8_t *start,
                                           size_t input_bytes, size_t output_bytes);

/* ---- encodings: how uncompressed ("packed") bytes store the elements of a page ---- */

enum nt_encoding_kind {
    NT_ENCODING_BIT,
    NT_ENCODING_BYTE,
    NT_ENCODING_CHAR,
    NT_ENCODING_INT8,
    NT_ENCODING_UINT8,
    NT_ENCODING_INT16,
    NT_ENCODING_UINT16,
    NT_ENCODING_INT32,
    NT_ENCODING_UINT32,
    NT_ENCODING_INT64,
    NT_ENCODING_UINT64,
    NT_ENCODING_REAL16,
    NT_ENCODING_REAL32,
    NT_ENCODING_REAL64,
    NT_ENCODING_INDEX32,
    NT_ENCODING_INDEX64,
    NT_ENCODING_SWITCH,       /* u64 index, u32 tag */
    NT_ENCODING_SWITCH_44_20, /* drafts: one u64, index in the low 44 bits, tag in the high 20 */
    NT_ENCODING_SWITCH_32_32, /* before 6.27: index in the low 32 bits, tag in the high 32 */
    NT_ENCODING_SPLIT_INT16,
    NT_ENCODING_SPLIT_UINT16,
    NT_ENCODING_SPLIT_INT32,
    NT_ENCODING_SPLIT_UINT32,
    NT_ENCODING_SPLIT_INT64,
    NT_ENCODING_SPLIT_UINT64,
    NT_ENCODING_SPLIT_REAL16,
    NT_ENCODING_SPLIT_REAL32,
    NT_ENCODING_SPLIT_REAL64,
    NT_ENCODING_SPLIT_INDEX32,
    NT_ENCODING_SPLIT_INDEX64,
    NT_ENCODING_REAL32_TRUNC,
    NT_ENCODING_REAL32_QUANT,
    NT_ENCODING_OPAQUE,        /* elements of `bits`/8 bytes, copied */
    NT_ENCODING_ROARING_ARRAY, /* see formats/roaring; `parameter` is added to each value */
    NT_ENCODING_ROARING_BITSET,
    NT_ENCODING_ROARING_RUN,
    /* ROOT's streamers (TBuffer): the highest byte first. Integers and reals of one byte are those above. */
    NT_ENCODING_BOOL8, /* a byte; all but 0 are true */
    NT_ENCODING_BIG_INT16,
    NT_ENCODING_BIG_UINT16,
    NT_ENCODING_BIG_INT32,
    NT_ENCODING_BIG_UINT32,
    NT_ENCODING_BIG_INT64,
    NT_ENCODING_BIG_UINT64,
    NT_ENCODING_BIG_REAL32,
    NT_ENCODING_BIG_REAL64,
    NT_ENCODING_DOUBLE32, /* Double32_t without range and bits: a REAL32, decoded to 64 bits */
    /* Float16_t and Double32_t with a number of bits, without range: 3 bytes, the exponent of a REAL32,
     * then its sign and mantissa. `minimum`: bits of the mantissa, 1 to 14; 0 is ROOT's default, 12. */
    NT_ENCODING_FLOAT16_BITS,
    NT_ENCODING_DOUBLE32_BITS,
    /* With range: a UINT32, whose value is stored / factor + xmin. `minimum`: xmin. `maximum`: factor,
     * which is 2^bits / (xmax - xmin), or 4294967295 / (xmax - xmin) for 32 bits, ROOT's default. */
    NT_ENCODING_FLOAT16_RANGE,
    NT_ENCODING_DOUBLE32_RANGE,
    NT_ENCODING_OTHER,   /* decoded by operations of its format, not by this table */
    NT_ENCODING_UNKNOWN, /* a column type unknown to this build: cannot be decoded */
    NT_ENCODING_COUNT
};

enum { NT_DECODER_DEPENDENCIES = 16, NT_MAX_SHARED_OUTPUTS = 32 };

/* What a decoder needs besides the bytes. Equal decoders share one row of a dataset's decoders. */
struct nt_decoder {
    const struct nt_decoder_ops *ops;   /* NULL: a column type unknown to this build */
    const void *state;                  /* for the operations; equal if all `state_bytes` bytes are */
    const struct nt_page *dependencies; /* decoded first, by the caller; have none themselves */
    uint32_t state_bytes, dependency_count;
    enum nt_encoding_kind encoding : 16;
    enum nt_encoding_kind number_encoding : 16; /* NT_ENCODING_OTHER: of the numbers among the bytes */
    enum nt_element element; /* of the output; the default, or from nt_decoder_set_element */
    uint32_t bits;           /* per packed element; 0: variable */
    uint32_t element_bytes;  /* bytes of a decoded element */
    double minimum, maximum; /* value range of Real32Quant; see ROOT's rows for theirs */
};

struct nt_decoder_ops {
    /* Decodes `packed->elements` elements, unaligned, without overlap of input and output. */
    enum nt_status (*decode)(const struct nt_packed *packed, uint8_t *output, struct nt_error *error);
    /* Checks the state, given the decoders of the dependencies. NULL: always valid. */
    enum nt_status (*check)(const struct nt_decoder *decoder, const struct nt_decoder *const *dependencies,
                            struct nt_error *error);
    /* Can both decoders decode elements from one page together, sharing work? NULL: no. */
    bool (*are_shared)(const struct nt_decoder *a, const struct nt_decoder *b);
    /* `decode` for several decoders that are pairwise shared; with the same bytes and context. */
    enum nt_status (*decode_shared)(const struct nt_packed *packed, uint8_t *const *outputs, uint32_t count,
                                    struct nt_error *error);
    /* The bytes of a page of so many elements after decompression, if decoding includes it. NULL: it does
     * not, or they are those of the stored page. */
    uint64_t (*packed_bytes)(const struct nt_decoder *decoder, uint64_t elements);
    bool allocates_memory; /* for intermediate results, about as much as the output */
    bool sums_items;       /* end offsets never decrease, and count from the page's parameter on */
};

/* Elements in memory. Bytes are elements of size 1. */
struct nt_value {
    const uint8_t *data;
    uint64_t elements;
    enum nt_element element;
    uint32_t element_bytes;
};

/* `elements` decoded elements as a value. */
struct nt_value nt_decoded_value(const struct nt_decoder *decoder, const uint8_t *data, uint64_t elements);

/* The packed bytes of a page. */
struct nt_packed {
    const struct nt_decoder *decoder;
    uint64_t parameter; /* of the page; Roaring: added to each value */
    const uint8_t *data;
    size_t bytes;
    size_t elements;
    const struct nt_value *dependencies; /* one per dependency of the decoder */
    struct nt_codec_context *context;
    uint64_t limit; /* bytes of memory for intermediate results */
};

struct nt_encoding {
    const char *name;  /* the specification's: "SplitInt32" */
    const char *steps; /* "split, zigzag"; NULL if elements are stored verbatim */
    enum nt_element element;
    uint32_t bits;                       /* per packed element; 0: between minimum and maximum */
    uint32_t minimum_bits, maximum_bits; /* both 0 for elements of variable size */
    bool is_index;                       /* elements are cluster-relative end offsets */
    /* Decodes `packed` (exactly nt_packed_bytes) into `output`, elements * element_bytes of the
     * decoder. Input and output never overlap and need no alignment. NULL: OTHER and UNKNOWN. */
    enum nt_status (*decode)(const struct nt_packed *packed, uint8_t *output, struct nt_error *error);
};

/* The description of a kind; never NULL for a member of the enum. */
const struct nt_encoding *nt_encoding_info(enum nt_encoding_kind kind);
/* How a decoder's elements are stored: bits (0: they vary), and the steps in words ("": none). */
uint32_t nt_decoder_stored_bits(const struct nt_decoder *decoder);
const char *nt_decoder_steps(const struct nt_decoder *decoder);
/* Are packed and decoded bytes equal, so that a page can be decompressed in place? */
bool nt_encoding_is_identity(enum nt_encoding_kind kind);

/* Initialises a decoder with the usual element of the kind; `bits` 0: the default. NT_CORRUPT if bits
 * are out of range. */
enum nt_status nt_decoder_init(struct nt_decoder *decoder, enum nt_encoding_kind kind, uint32_t bits,
                               double minimum, double maximum, struct nt_error *error);

/* Changes the output element: UINT64 for the Roaring kinds, REAL64 for Real32Quant. */
void nt_decoder_set_element(struct nt_decoder *decoder, enum nt_element element);

/* The decompressed size of elements, ceil(elements * bits / 8); false on overflow. */
bool nt_packed_bytes(const struct nt_decoder *decoder, uint64_t elements, uint64_t *bytes_ret);

bool nt_decoders_are_shared(const struct nt_decoder *a, const struct nt_decoder *b);

/* Decodes with the table of encodings; checks the number of bytes. */
enum nt_status nt_decode(const struct nt_packed *packed, uint8_t *output, struct nt_error *error);

/* ---- Deflate library ---- */

enum nt_inflate_form {
    NT_INFLATE_ZLIB, /* with zlib's header and checksum, which is verified */
    NT_INFLATE_BARE, /* deflate without header */
    NT_INFLATE_FORM_COUNT
};

enum nt_inflate_result {
    NT_INFLATE_OK,
    NT_INFLATE_TOO_MUCH, /* the output is larger than the buffer */
    NT_INFLATE_INVALID,
    NT_INFLATE_NO_MEMORY,
};
struct nt_inflater *nt_inflater_new(void); /* NULL without memory */
void nt_inflater_free(struct nt_inflater *inflater);

/* Decompresses the stream at the start of the input. On success the stream ended after `*consumed_ret`
 * bytes of input, with `*produced_ret` bytes of output, or fewer than `output_bytes`. */
enum nt_inflate_result nt_inflate(struct nt_inflater *inflater, enum nt_inflate_form form,
                                  const uint8_t *input, size_t input_bytes, uint8_t *output,
                                  size_t output_bytes, size_t *consumed_ret, size_t *produced_ret);

/* ---- Decompressors ---- */

typedef enum nt_status nt_decompress_block(const uint8_t *input, size_t input_bytes, uint8_t *output,
                                           size_t output_bytes, struct nt_codec_context *context,
                                           struct nt_error *error);
nt_decompress_block nt_decompress_zstd, nt_decompress_bare_lz4;
nt_decompress_block nt_decompress_blosc, nt_decompress_whole_blosc;

typedef enum nt_status nt_decompress_some(const uint8_t *input, size_t input_bytes, size_t output_bytes,
                                          size_t offset, uint8_t *output, size_t bytes,
                                          struct nt_error *error);

nt_decompress_some nt_decompress_blosc_blocks, nt_decompress_whole_blosc_blocks;
size_t nt_blosc_block_bytes(const uint8_t *start, size_t input_bytes, size_t output_bytes);
enum nt_algorithm nt_blosc_algorithm(const uint8_t *start, size_t input_bytes, size_t output_bytes);

/* ---- Information content ---- */

/* The information content of bytes, for limits that follow the size of a file: all bytes, or 16 times
 * their LZ4-compressed size if that is less; for compressed bytes, which rarely compress again, 4
 * times. Thus zeros, and data that compresses well twice, hardly count. Allocates nothing. */
uint64_t nt_information_bytes(const uint8_t *bytes, size_t count, bool is_compressed);

/* ---- Vectorized transforms ---- */

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "only little-endian machines are supported: elements are decoded into the files' byte order");

/* The operation on each element after its bytes are joined. */
enum nt_finish {
    NT_FINISH_NOTHING,
    NT_FINISH_ZIGZAG, /* 0, 1, 2, 3, ... become 0, -1, 1, -2, ... */
    NT_FINISH_DELTA,  /* prefix sum: each element is the sum of those up to it */
};

/* Joins split bytes: `planes` holds the lowest bytes of all `count` elements of a page, then the second
 * ones, ... There is no 16-bit delta. */
void nt_unsplit16(const uint8_t *planes, size_t count, enum nt_finish finish, uint8_t *output);
void nt_unsplit32(const uint8_t *planes, size_t count, enum nt_finish finish, uint8_t *output);
void nt_unsplit64(const uint8_t *planes, size_t count, enum nt_finish finish, uint8_t *output);

/* Reverses the bytes of each of `count` numbers; they need no alignment. `output` may be `stored`. */
void nt_swap16(const uint8_t *stored, size_t count, uint8_t *output);
void nt_swap32(const uint8_t *stored, size_t count, uint8_t *output);
void nt_swap64(const uint8_t *stored, size_t count, uint8_t *output);

/* Unpacks bits, lowest first, into bytes 0 and 1. */
void nt_unpack_bits(const uint8_t *packed, size_t count, uint8_t *output);

/* Unpacks elements [first, first + count) of `width` (1..32) bits, packed without gaps in
 * `packed_bytes` bytes, lowest bits first. `first` is a multiple of 8. */
void nt_unpack_integers(const uint8_t *packed, size_t packed_bytes, unsigned width, size_t first,
                        size_t count, uint32_t *output);
