// SPDX-License-Identifier: BSD-2-Clause
/* Fields of performance management in libibmad under our names, for oracle_get() and _put(). */
#pragma once

#include "ibmad-oracle.h"

/* `attr` is that of PerfMgt. A field with a counter for each lane: the row of its first lane. */
const struct oracle_row *oracle_pm_rows(size_t *ret_n);
const struct oracle_row *oracle_pm_find(uint16_t attr, const char *name);
