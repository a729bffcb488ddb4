/* SPDX-License-Identifier: MIT
 *
 * Address arithmetic for object stores: all objects of a store appear as one source, with 4 GiB of address
 * space per object.
 */
#ifndef NT_CORE_IO_OBJECTS_H
#define NT_CORE_IO_OBJECTS_H

#include <stdint.h>

#define NT_OBJECT_SPACE (UINT64_C(1) << 32)
/* Less than the room by more than a gap that is read, so that what is joined is in one object. */
#define NT_OBJECT_MAX_BYTES (NT_OBJECT_SPACE - (2 << 20))
/* Stands in names where the number of an object does. */
#define NT_OBJECT_NUMBER "${objid}"

#endif
