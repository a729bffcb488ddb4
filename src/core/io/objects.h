/* SPDX-License-Identifier: MIT
 *
 * Objects of a store that are one source, and one file of the process that fetches: byte `at` of object `number` is at
 * number * NT_OBJECT_ROOM + at.
 */
#ifndef NT_IO_OBJECTS_H
#define NT_IO_OBJECTS_H

#include <stdint.h>

#define NT_OBJECT_ROOM (UINT64_C(1) << 32)
/* Less than the room by more than a gap that is read, so that what is joined is in one object. */
#define NT_OBJECT_MOST_BYTES (NT_OBJECT_ROOM - (2 << 20))
#define NT_OBJECT_MOST_NUMBER INT32_MAX
/* Stands in names where the number of an object does. */
#define NT_OBJECT_NUMBER "${objid}"

#endif
