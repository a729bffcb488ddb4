/* SPDX-License-Identifier: MIT
 *
 * In: small files that are opened. Out: whether one is opened for the first time, as far as is remembered.
 *
 * Storing waits for the file's pages where somebody reads them, and is waited for by who has opened the file
 * first. So only the first open stores: a page that it waits for is read by an open that was answered after it
 * had begun, by a thread that does not wait then. What is remembered is forgotten only while no file is open.
 */
#include "fuse/store.h"

enum { MOST_BITS = NT_STORED_BITS / 4 }; /* then one file in four would be taken for another */

bool nt_stored_add(struct nt_stored *stored, uint64_t node, bool is_idle)
{
    const uint64_t multiplier = UINT64_C(0x9E3779B97F4A7C15);
    uint64_t mixed = (node ^ node >> 32) * multiplier;
    uint64_t number = (mixed ^ mixed >> 32) * multiplier >> 40 & (NT_STORED_BITS - 1);
    uint64_t bit = UINT64_C(1) << number % 64;
    if (is_idle && stored->count >= MOST_BITS)
        *stored = (struct nt_stored){.count = 0};
    if (stored->bits[number / 64] & bit)
        return false;
    stored->bits[number / 64] |= bit;
    stored->count++;
    return true;
}
