/* SPDX-License-Identifier: MIT
 *
 * Address arithmetic for object stores: all objects of a store appear as one source, with 4 GiB of
 * address space per object.
 */
#pragma once

#include <stdint.h>

#define NT_OBJECT_SPACE (UINT64_C(1) << 32)
/* Below the limit by more than a coalesced gap, so that joined reads stay in one object. */
#define NT_OBJECT_MAX_BYTES (NT_OBJECT_SPACE - (2 << 20))
/* Placeholder for the number of an object in names. */
#define NT_OBJECT_NUMBER "${objid}"
