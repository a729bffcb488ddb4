/* SPDX-License-Identifier: MIT
 *
 * What a process that fetches may be asked for, and whom it shows certificates. It is told before all else, by who has not looked at a stranger's
 * byte yet (io/fetch.h), and never again.
 */
#ifndef NT_FETCH_RULES_H
#define NT_FETCH_RULES_H

#include <stdbool.h>
#include <stddef.h>

struct nt_rules {
    bool is_fixed; /* to `places`; else all addresses are */
    bool keeps_certificate;
    char **places; /* in order */
    size_t count;
};

/* Take them from a socket. False where they do not come. */
bool nt_rules_take(struct nt_rules *rules, int channel);

/* Whether an address is one of the places, or lies beneath one. Its query does not matter: it is for the same server. */
bool nt_rules_allow(const struct nt_rules *rules, const char *address);

#endif
