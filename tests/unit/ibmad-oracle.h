// SPDX-License-Identifier: BSD-2-Clause
/*
 * libibmad's field table under our names: what the layout tests compare with. Its header and ours
 * cannot be included together, hence this one.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define ORACLE_SMP 0 /* "attribute" of the SMP header's fields */

struct oracle_row {
	uint16_t attr;
	const char *name; /* as in the list of ib/attrs.h */
	unsigned theirs;
};

const struct oracle_row *oracle_rows(size_t *ret_n);
/* NULL if libibmad does not know the field. */
const struct oracle_row *oracle_find(uint16_t attr, const char *name);
uint64_t oracle_get(const struct oracle_row *row, const uint8_t *payload, unsigned width);
void oracle_put(const struct oracle_row *row, uint8_t *payload, unsigned width, uint64_t value);
