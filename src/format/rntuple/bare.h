/* SPDX-License-Identifier: MIT
 *
 * The bare-file container: one RNTuple without ROOT's keys.
 */
#ifndef NT_FORMAT_RNTUPLE_BARE_H
#define NT_FORMAT_RNTUPLE_BARE_H

#include "format/rntuple/container.h"

extern const struct nt_container_kind nt_container_bare;

#endif
