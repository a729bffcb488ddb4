/* SPDX-License-Identifier: MIT
 *
 * The headers that most tests include. Meson compiles them once for each program: Check includes <math.h>,
 * which takes longer than many of the tests themselves.
 */
#include "support.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>
