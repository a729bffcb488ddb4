/* SPDX-License-Identifier: MIT
 *
 * How much bytes tell.
 */
#ifndef NT_CODEC_WORTH_H
#define NT_CODEC_WORTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many of these bytes count where a bound follows what a file has: all, or 16 times what LZ4 makes of them where that
 * is less; of bytes that were compressed, which rarely compress again, 4 times. So zeros count as hardly any, and so does what
 * compresses well twice. Takes no memory. */
uint64_t nt_worth(const uint8_t *bytes, size_t count, bool is_compressed);

#endif
