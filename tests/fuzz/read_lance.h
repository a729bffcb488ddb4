/* SPDX-License-Identifier: MIT
 *
 * A Lance file or data set, opened and read as a mount does it. The source is closed.
 */
#ifndef NT_TESTS_READ_LANCE_H
#define NT_TESTS_READ_LANCE_H

#include <ntuple/source.h>

void read_lance(struct nt_source *source);

#endif
