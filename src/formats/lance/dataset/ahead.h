/* SPDX-License-Identifier: MIT
 *
 * Data files on a server, which take a round trip each: while fragments are looked at one after the other, those of the next ones are on
 * their way.
 */
#ifndef NT_FORMAT_LANCE_DATASET_AHEAD_H
#define NT_FORMAT_LANCE_DATASET_AHEAD_H

#include "formats/lance/dataset/opened.h"

/* A data file is about to be read for the first time. Under the data set's lock. */
void nt_lance_ask_ahead(struct nt_dataset *dataset, uint32_t number);

#endif
