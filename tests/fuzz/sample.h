/* SPDX-License-Identifier: MIT
 *
 * A small file of any generation: a float, a vector of floats, a string, two clusters, and all
 * checksums of the generation.
 */
#pragma once

#include "rntuple_writer.h"

/* `spoil` is that of struct rntuple_description. The caller deinits the buffer. */
void sample_file(enum rntuple_generation generation, bool is_compressed,
                 void (*spoil)(enum rntuple_envelope kind, struct nt_buffer *bytes), struct nt_buffer *out);
