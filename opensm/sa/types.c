// SPDX-License-Identifier: BSD-2-Clause
/* The record types, by attribute. */
#include "sa/base/sa_internal.h"
#include "util/mem.h"

static const struct sa_type *const types[] = {
#define ROW(ATTR, name) [SA_##ATTR] = &sa_##name,
	SA_TYPES(ROW)
#undef ROW
};

const struct sa_type *sa_type_find(uint16_t attr)
{
	return attr < ARRAY_SIZE(types) ? types[attr] : NULL;
}
