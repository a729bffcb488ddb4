/* SPDX-License-Identifier: MIT
 *
 * Decoding of stored bytes into elements: tables of checksums, compression formats and page encodings, and
 * the decompressors.
 */
#ifndef NT_CORE_CODEC_CODEC_H
#define NT_CORE_CODEC_CODEC_H

#include <ntuple/element.h>
#include <ntuple/error.h>

#include <lzma.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zstd.h>

struct nt_codec_context;
struct nt_inflater;
struct nt_packed;
struct nt_page;

/* ---- Codec tables ---- */

/* ---- elements ---- */

/* Convert `count` elements by value, e.g. Real32 -> Real64 or Bit -> int32. Same-size signed/unsigned
 * integers keep their bits (old drafts store signed fields under unsigned ids). An integer that the target
 * cannot hold is NT_CORRUPT with the element's number in the message; to BOOL, all but 0 is 1. Reals are
 * rounded to nearest, as C does. All pairs of numbers convert but reals to integers; the first function
 * tells. */
bool nt_element_can_convert(enum nt_element from, enum nt_element to);
enum nt_status nt_element_convert(enum nt_element from, const void *input, enum nt_element to, void *output,
                                  size_t count, struct nt_error *error);

/* ---- checksums ---- */

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
    /* False where the library has no memory or does not provide the digest. NULL for none. */
    bool (*compute)(const void *data, size_t bytes, uint8_t *digest);
};

/* The row of a kind; never NULL for a member of the enum. */
const struct nt_checksum *nt_checksum_info(enum nt_checksum_kind kind);
uint64_t nt_xxh3(const void *data, size_t bytes);
/* Another one for each seed: who does not know it finds no two that have the same. */
uint64_t nt_xxh3_seeded(const void *data, size_t bytes, uint64_t seed);
uint32_t nt_crc32(const void *data, size_t bytes);

/* In the build for fuzzers a target can have checksums taken as they are: what lies behind them is to be reached. */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
extern bool nt_takes_any_checksum;
#define NT_COMPARES_CHECKSUMS (!nt_takes_any_checksum)
#else
#define NT_COMPARES_CHECKSUMS true
#endif

/* The row's stored bytes as people and other tools write them: integers from their highest digit on. */
enum { NT_CHECKSUM_TEXT = 129 };
void nt_checksum_text(enum nt_checksum_kind kind, const uint8_t *stored, char text[NT_CHECKSUM_TEXT]);

/* NT_OK where `stored` (the row's bytes) is the checksum of `data`, else NT_CHECKSUM with both as hex. */
enum nt_status nt_checksum_verify(enum nt_checksum_kind kind, const void *data, size_t bytes,
                                  const uint8_t *stored, uint64_t offset, struct nt_error *error);

/* ---- algorithms: what the stored bytes themselves name ---- */

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

const char *nt_algorithm_name(enum nt_algorithm algorithm); /* "none", "zstd", "old-zlib", ... */

/* ---- compression ---- */
struct nt_codec_context *nt_codec_context_new(void); /* NULL without memory */
void nt_codec_context_free(struct nt_codec_context *context);
size_t nt_codec_context_bytes(const struct nt_codec_context *context); /* what it keeps, roughly */
/* Who has scratch memory: as many may use it for one page at the same time. */
enum nt_scratch {
    NT_SCRATCH_PAGE,      /* stored and packed bytes of a page that is loaded */
    NT_SCRATCH_COALESCED, /* stored bytes of pages that are read in one call */
    NT_SCRATCH_CHUNK,     /* a decompressor's output where more comes out than is wanted */
    NT_SCRATCH_TREE,      /* what nested encodings make on the way to a page's elements */
    NT_SCRATCH_COUNT
};
/* Scratch memory of at least `bytes`, valid until the next call for the same. NULL without memory. */
uint8_t *nt_codec_scratch(struct nt_codec_context *context, enum nt_scratch of, size_t bytes);
size_t nt_codec_scratch_bytes(const struct nt_codec_context *context, enum nt_scratch of); /* there are now */

/* The library that inflates, with the version that it was built with: "libdeflate 1.14", "zlib 1.2.13". */
const char *nt_deflate_library(void);
/* The version of the liblzma that is loaded. */
const char *nt_lzma_version(void);

enum nt_compression_kind {
    NT_COMPRESSION_NONE,
    /* A chain of blocks with 9-byte headers, of any algorithm; stored where the sizes agree. */
    NT_COMPRESSION_ROOT_BLOCKS,
    NT_COMPRESSION_BLOSC,       /* the first bytes of one c-blosc 1 chunk */
    NT_COMPRESSION_BLOSC_WHOLE, /* all bytes of one: it may not have more */
    NT_COMPRESSION_ELSEWHERE,   /* the bytes are not in this source (URI, object store): reading is refused */
    NT_COMPRESSION_COUNT
};

struct nt_compression {
    const char *name;
    bool stores_plain; /* where there are as many stored as packed bytes, they are the same bytes */
    /* `output_bytes` is known beforehand: short or long output is NT_CORRUPT. */
    enum nt_status (*decompress)(const uint8_t *input, size_t input_bytes, uint8_t *output,
                                 size_t output_bytes, struct nt_codec_context *context,
                                 struct nt_error *error);
    /* The algorithm that the stored bytes tell. There are `input_bytes` of them, but `start` has the first
     * 16 only (or all, if they are fewer). NULL: always `only_algorithm`. */
    enum nt_algorithm (*algorithm)(const uint8_t *start, size_t input_bytes, size_t output_bytes);
    enum nt_algorithm only_algorithm;
    /* The bytes after which the output can be cut into blocks that are decompressed alone, as the stored
     * bytes tell (`start` as above); 0: it cannot. The last block may be shorter. Not checked against what
     * follows the header. NULL where the algorithm knows no blocks; then so is `decompress_blocks`. */
    size_t (*block_bytes)(const uint8_t *start, size_t input_bytes, size_t output_bytes);
    /* Bytes [offset, offset + bytes) of the `output_bytes` that `decompress` would make, and these only,
     * from all stored bytes. Both ends are multiples of `block_bytes` or the end of the output, else
     * NT_UNSUPPORTED. Damage in other blocks may go unnoticed. Needs no context; thread-safe. */
    enum nt_status (*decompress_blocks)(const uint8_t *input, size_t input_bytes, size_t output_bytes,
                                        size_t offset, uint8_t *output, size_t bytes, struct nt_error *error);
};

const struct nt_compression *nt_compression_info(enum nt_compression_kind kind);
/* The algorithm of stored bytes, by the row's function (arguments as there). */
enum nt_algorithm nt_compression_algorithm(enum nt_compression_kind kind, const uint8_t *start,
                                           size_t input_bytes, size_t output_bytes);

/* ---- encodings: how the elements of a page lie in its uncompressed ("packed") bytes ---- */

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
    NT_ENCODING_OPAQUE,        /* elements of `bits`/8 bytes as they are */
    NT_ENCODING_ROARING_ARRAY, /* see format/roaring; `parameter` is added to each value */
    NT_ENCODING_ROARING_BITSET,
    NT_ENCODING_ROARING_RUN,
    NT_ENCODING_OTHER,   /* no row decodes it, but operations of the format that has it */
    NT_ENCODING_UNKNOWN, /* a column type that this build does not know: cannot be decoded */
    NT_ENCODING_COUNT
};

enum { NT_DECODER_INPUTS = 2, NT_DECODE_TOGETHER = 4 };

/* What a decoder must know beside the bytes. Two of the same content are one row of a dataset's decoders. */
struct nt_decoder {
    const struct nt_decoder_ops *ops; /* NULL: a column type that this build does not know */
    const void *state;                /* of the operations; equal states are the same `state_bytes` bytes */
    const struct nt_page *inputs;     /* whoever decodes has them decoded; they have no inputs themselves */
    uint32_t state_bytes, input_count;
    enum nt_encoding_kind encoding;
    enum nt_element element; /* of the output; the row's own but where nt_decoder_set_element says */
    uint32_t bits;           /* bits of an element in the packed bytes; 0: it has no width of its own */
    uint32_t element_bytes;  /* bytes of a decoded element */
    double minimum, maximum; /* value range of Real32Quant */
};

struct nt_decoder_ops {
    /* Make `packed->elements` elements, exactly. Input and output never overlap, need no alignment. */
    enum nt_status (*decode)(const struct nt_packed *packed, uint8_t *output, struct nt_error *error);
    /* The decoder makes what its state says, with inputs that these decoders make. NULL: it always does. */
    enum nt_status (*check)(const struct nt_decoder *decoder, const struct nt_decoder *const *inputs,
                            struct nt_error *error);
    /* Whether elements of both decoders can be made of one page together, which does once what they have in common. NULL: no. */
    bool (*are_shared)(const struct nt_decoder *a, const struct nt_decoder *b);
    /* `decode` for up to NT_DECODE_TOGETHER decoders that are shared, each with each; all with the same bytes and the same context. */
    enum nt_status (*decode_together)(const struct nt_packed *packed, uint8_t *const *outputs, uint32_t count,
                                      struct nt_error *error);
    bool takes_memory; /* on the way, about as much as the output */
};

/* Of decoders that are a row of the encodings. */
extern const struct nt_decoder_ops nt_encoding_ops;

/* Elements in memory. Bytes are elements of one byte. */
struct nt_value {
    const uint8_t *data;
    uint64_t elements;
    enum nt_element element;
    uint32_t element_bytes;
};

/* A value of `elements` elements as a decoder makes them. */
struct nt_value nt_decoded_value(const struct nt_decoder *decoder, const uint8_t *data, uint64_t elements);

/* A page's elements in their packed bytes. */
struct nt_packed {
    const struct nt_decoder *decoder;
    uint64_t parameter; /* the page's; Roaring: what is added to each value */
    const uint8_t *data;
    size_t bytes;
    size_t elements;
    const struct nt_value *inputs; /* as many as the decoder's */
    struct nt_codec_context *context;
    uint64_t limit; /* bytes of memory that decoding may take on the way */
};

struct nt_encoding {
    const char *name;  /* the specification's: "SplitInt32" */
    const char *steps; /* "split, zigzag"; NULL where elements are stored as they are */
    enum nt_element element;
    uint32_t bits; /* of an element in the packed bytes; 0: from the minimum to the maximum */
    uint32_t minimum_bits, maximum_bits; /* both 0 where elements have no width of their own */
    bool is_index;                       /* elements are cluster-relative end offsets */
    /* Decode `packed` (its bytes are exactly nt_packed_bytes) into `output`, elements * element_bytes of the
     * decoder. Input and output never overlap, need no alignment. NULL: OTHER and UNKNOWN. */
    enum nt_status (*decode)(const struct nt_packed *packed, uint8_t *output, struct nt_error *error);
};

/* The row of a kind; never NULL for a member of the enum. */
const struct nt_encoding *nt_encoding_info(enum nt_encoding_kind kind);
const char *nt_encoding_steps(enum nt_encoding_kind kind); /* "" where there are none */
/* Packed and decoded bytes are the same, so that a page may be decompressed in place. */
bool nt_encoding_is_identity(enum nt_encoding_kind kind);

/* A decoder for a kind with its usual element; `bits` 0 means the row's own. NT_CORRUPT where bits are out of
 * range. */
enum nt_status nt_decoder_init(struct nt_decoder *decoder, enum nt_encoding_kind kind, uint32_t bits,
                               double minimum, double maximum, struct nt_error *error);

/* Another element of the output than the row's own: UINT64 for the kinds of Roaring, REAL64 for Real32Quant. */
void nt_decoder_set_element(struct nt_decoder *decoder, enum nt_element element);

/* Bytes of a page's elements after decompression, ceil(elements * bits / 8); false when it overflows. */
bool nt_packed_bytes(const struct nt_decoder *decoder, uint64_t elements, uint64_t *bytes_ret);

bool nt_decoders_are_shared(const struct nt_decoder *a, const struct nt_decoder *b);

/* Decode by the row of an encoding; the number of bytes is checked. */
enum nt_status nt_decode(const struct nt_packed *packed, uint8_t *output, struct nt_error *error);

/* ---- Deflate library ---- */

enum nt_inflate_form {
    NT_INFLATE_ZLIB, /* with zlib's header, and its checksum, which is compared */
    NT_INFLATE_BARE, /* deflate alone */
    NT_INFLATE_FORM_COUNT
};

enum nt_inflate_result {
    NT_INFLATE_OK,
    NT_INFLATE_TOO_MUCH, /* more output than there is room */
    NT_INFLATE_INVALID,
    NT_INFLATE_NO_MEMORY,
};
struct nt_inflater *nt_inflater_new(void); /* NULL without memory */
void nt_inflater_free(struct nt_inflater *inflater);

/* Decompress the stream that the input begins with. On success the stream ended: after `*consumed_ret` bytes
 * of the input, with `*produced_ret` bytes of output, which may be fewer than there is room for. */
enum nt_inflate_result nt_inflate(struct nt_inflater *inflater, enum nt_inflate_form form,
                                  const uint8_t *input, size_t input_bytes, uint8_t *output,
                                  size_t output_bytes, size_t *consumed_ret, size_t *produced_ret);

uint32_t nt_inflate_crc32(const void *data, size_t bytes);
uint32_t nt_inflate_adler32(const void *data, size_t bytes);

/* ---- Digests ---- */

/* False where libcrypto has no memory or does not provide it. */
typedef bool nt_compute_digest(const void *data, size_t bytes, uint8_t *digest);
nt_compute_digest nt_digest_md5, nt_digest_sha1, nt_digest_sha224, nt_digest_sha256, nt_digest_sha384,
    nt_digest_sha512;

/* ---- Decompressors ---- */

typedef enum nt_status nt_decompress_block(const uint8_t *input, size_t input_bytes, uint8_t *output,
                                           size_t output_bytes, struct nt_codec_context *context,
                                           struct nt_error *error);
nt_decompress_block nt_decompress_lzma, nt_decompress_zstd;
nt_decompress_block nt_decompress_lz4,
    nt_decompress_bare_lz4; /* with ROOT's checksum in front, and without */
nt_decompress_block nt_decompress_blosc, nt_decompress_whole_blosc;

typedef enum nt_status nt_decompress_some(const uint8_t *input, size_t input_bytes, size_t output_bytes,
                                          size_t offset, uint8_t *output, size_t bytes,
                                          struct nt_error *error);

nt_decompress_some nt_decompress_blosc_blocks, nt_decompress_whole_blosc_blocks;
size_t nt_blosc_block_bytes(const uint8_t *start, size_t input_bytes, size_t output_bytes);
enum nt_algorithm nt_blosc_algorithm(const uint8_t *start, size_t input_bytes, size_t output_bytes);

/* What the decompressors of a thread keep between calls. */
struct nt_codec_context {
    ZSTD_DCtx *zstd;
    struct nt_inflater *inflater;
    lzma_stream lzma; /* all zero (LZMA_STREAM_INIT) before its first use */
    struct {
        uint8_t *bytes;
        size_t capacity;
    } scratch[NT_SCRATCH_COUNT];
};

/* ---- Information content ---- */

/* How many of these bytes count where a bound follows what a file has: all, or 16 times what LZ4 makes of them where that
 * is less; of bytes that were compressed, which rarely compress again, 4 times. So zeros count as hardly any, and so does what
 * compresses well twice. Takes no memory. */
uint64_t nt_information_bytes(const uint8_t *bytes, size_t count, bool is_compressed);

/* ---- Vectorized transforms ---- */

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "only little-endian machines are supported: elements are decoded into the files' byte order");

/* What is done to each element after its bytes have been put together. */
enum nt_finish {
    NT_FINISH_NOTHING,
    NT_FINISH_ZIGZAG, /* 0, 1, 2, 3, ... are 0, -1, 1, -2, ... */
    NT_FINISH_DELTA,  /* each element is the sum of those up to it */
};

/* Undo the split: `planes` holds all lowest bytes of the `count` elements of a page, then all second ones,
 * ... There is no 16-bit delta. */
void nt_unsplit16(const uint8_t *planes, size_t count, enum nt_finish finish, uint8_t *output);
void nt_unsplit32(const uint8_t *planes, size_t count, enum nt_finish finish, uint8_t *output);
void nt_unsplit64(const uint8_t *planes, size_t count, enum nt_finish finish, uint8_t *output);

/* Bits, the lowest of a byte first, as bytes 0 and 1. */
void nt_unpack_bits(const uint8_t *packed, size_t count, uint8_t *output);

/* Elements [first, first + count) of those of `width` (1..32) bits that lie close together in `packed_bytes`
 * bytes, lowest bits first. `first` is a multiple of 8. */
void nt_unpack_integers(const uint8_t *packed, size_t packed_bytes, unsigned width, size_t first,
                        size_t count, uint32_t *output);

/* ---- Roaring containers ---- */

enum nt_status nt_decode_roaring_array(const struct nt_packed *packed, uint8_t *output,
                                       struct nt_error *error);
enum nt_status nt_decode_roaring_bitset(const struct nt_packed *packed, uint8_t *output,
                                        struct nt_error *error);
enum nt_status nt_decode_roaring_run(const struct nt_packed *packed, uint8_t *output, struct nt_error *error);

#endif
