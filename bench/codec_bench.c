/* SPDX-License-Identifier: MIT
 *
 * The decoding speed of each encoding, on one page of random bytes: decoded bytes per second, and the ratio
 * to memcpy of the decoded bytes, measured in turns. Prints the best round, in processor time, so that other
 * programs disturb little.
 *
 *   codec_bench [ELEMENTS [ENCODING]]      the default is 32768 elements and all encodings
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/codec/codec.h"

enum { ROUNDS = 21, LARGEST_ELEMENT = 12 };
static const double round_seconds = 0.002;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

struct work {
    struct nt_decoder decoder;
    const uint8_t *packed;
    size_t packed_bytes, elements, decoded_bytes;
    uint8_t *output;
};

static void decode_once(const struct work *work)
{
    struct nt_error error;
    const struct nt_packed packed = {.decoder = &work->decoder,
                                     .data = work->packed,
                                     .bytes = work->packed_bytes,
                                     .elements = work->elements};
    if (nt_decode(&packed, work->output, &error)) {
        fprintf(stderr, "%s\n", error.message);
        exit(EXIT_FAILURE);
    }
}

static void copy_once(const struct work *work)
{
    memcpy(work->output, work->packed, work->decoded_bytes);
    __asm__ volatile("" ::: "memory"); /* the compiler must not remove the copy */
}

/* Decoded bytes per second in one round. */
static double measure(const struct work *work, void (*run)(const struct work *))
{
    size_t runs = 0;
    double start = now(), end = start;
    for (; end - start < round_seconds; end = now(), runs++)
        run(work);
    return (double)runs * (double)work->decoded_bytes / (end - start);
}

static void measure_encoding(enum nt_encoding_kind kind, uint32_t bits, struct work *work)
{
    struct nt_error error;
    uint64_t packed_bytes = 0;
    if (nt_decoder_init(&work->decoder, kind, bits, -1.0, 1.0, &error) ||
        !nt_packed_bytes(&work->decoder, work->elements, &packed_bytes))
        return;
    work->packed_bytes = (size_t)packed_bytes;
    work->decoded_bytes = work->elements * work->decoder.element_bytes;
    double speed = 0, copy_speed = 0;
    for (unsigned i = 0; i < ROUNDS; i++) {
        speed = fmax(speed, measure(work, decode_once));
        copy_speed = fmax(copy_speed, measure(work, copy_once));
    }
    const struct nt_encoding *encoding = nt_encoding_info(kind);
    printf("%-13s %2u bits  %7.2f GB/s  %5.2f of memcpy  %s\n", encoding->name, bits, speed * 1e-9,
           speed / copy_speed, nt_decoder_steps(&work->decoder));
}

int main(int count, char **arguments)
{
    size_t elements = count > 1 ? strtoul(arguments[1], NULL, 10) : 32768;
    uint8_t *packed = malloc(elements * LARGEST_ELEMENT), *output = malloc(elements * LARGEST_ELEMENT);
    if (!packed || !output || elements == 0)
        return EXIT_FAILURE;
    srand(1);
    for (size_t i = 0; i < elements * LARGEST_ELEMENT; i++)
        packed[i] = (uint8_t)rand();
    struct work work = {.packed = packed, .elements = elements, .output = output};
    for (int kind = 0; kind < NT_ENCODING_COUNT; kind++) {
        const struct nt_encoding *encoding = nt_encoding_info((enum nt_encoding_kind)kind);
        if (count > 2 && strcmp(encoding->name, arguments[2]))
            continue;
        uint32_t least = encoding->bits ? encoding->bits : encoding->minimum_bits;
        uint32_t most = encoding->bits ? encoding->bits : encoding->maximum_bits;
        if (least == 0 || encoding->element == NT_ELEMENT_OPAQUE ||
            nt_encoding_is_identity((enum nt_encoding_kind)kind))
            continue;
        for (uint32_t bits = least; bits <= most; bits += 5)
            measure_encoding((enum nt_encoding_kind)kind, bits, &work);
    }
    free(packed);
    free(output);
    return EXIT_SUCCESS;
}
