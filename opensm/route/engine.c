// SPDX-License-Identifier: BSD-2-Clause
/* The engines there are. Which of them is asked, and in which order, is decided above. */
#include "route/engine.h"

#include <string.h>

#include "route/minhop.h"
#include "util/mem.h"

static const struct route_engine engines[] = {
	{ .name = "minhop", .compute = minhop_compute },
};

const struct route_engine *route_engine_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(engines); i++)
		if (!strcmp(engines[i].name, name))
			return &engines[i];
	return NULL;
}
