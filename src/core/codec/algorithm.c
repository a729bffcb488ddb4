/* SPDX-License-Identifier: MIT
 *
 * The table of algorithms that the bytes of a compression may name.
 */
#include "core/codec/codec.h"

static const char *const algorithms[NT_ALGORITHM_COUNT] = {
    [NT_ALGORITHM_NONE] = "none",
    [NT_ALGORITHM_ZSTD] = "zstd",
    [NT_ALGORITHM_LZ4] = "lz4",
    [NT_ALGORITHM_ZLIB] = "zlib",
    [NT_ALGORITHM_OLD_ZLIB] = "old-zlib",
    [NT_ALGORITHM_LZMA] = "lzma",
    [NT_ALGORITHM_BLOSCLZ] = "blosclz",
    [NT_ALGORITHM_SNAPPY] = "snappy",
    [NT_ALGORITHM_ELSEWHERE] = "elsewhere",
    [NT_ALGORITHM_UNKNOWN] = "unknown",
};

const char *nt_algorithm_name(enum nt_algorithm algorithm)
{
    return algorithms[algorithm];
}
