/* SPDX-License-Identifier: MIT
 *
 * Connections that are there before anything is read by them.
 */
#ifndef NT_FETCH_WEB_WARM_H
#define NT_FETCH_WEB_WARM_H

#include "remote/helper/files.h"

/* While a file is opened, the first one of its server: so many connections. */
void nt_web_warm(struct nt_fetched *file, unsigned connections);
/* Those that are not there yet are not wanted any more. */
void nt_web_cool(struct nt_fetched *file);

#endif
