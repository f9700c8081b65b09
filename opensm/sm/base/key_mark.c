// SPDX-License-Identifier: BSD-2-Clause
#include "sm/base/key_mark.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "keys/key_ring.h"
#include "util/mem.h"

#define WELL_KNOWN 1 /* default sm_key of all subnet managers */

uint64_t key_mark(const struct conf *c, enum conf_id id)
{
	struct key_seed seed;
	char *value, *text;
	uint64_t mark;

	assert(conf_is_secret(id));
	if (id == CONF_ID_sm_key || c->sm_key <= WELL_KNOWN)
		return 0;
	value = conf_value_text(c, id);
	text = xasprintf("mark of option %s %s", conf_option(id)->name, value);
	key_seed_of_number(c->sm_key, &seed);
	mark = key_digest(&seed, text, strlen(text));
	explicit_bzero(&seed, sizeof(seed));
	free_wiped(value, strlen(value));
	free_wiped(text, strlen(text));
	return mark ? mark : 1;
}

uint16_t key_mark_short(const struct conf *c, enum conf_id id)
{
	return (uint16_t)(key_mark(c, id) >> 48);
}
