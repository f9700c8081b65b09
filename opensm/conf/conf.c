// SPDX-License-Identifier: BSD-2-Clause
/*
 * The life of struct conf, and questions about it that concern more than one value. The table of
 * options: options.c. How one value is read and written: value.c.
 */
#include "conf/conf.h"

#include <assert.h>
#include <string.h>

#include "conf/value.h"
#include "util/mem.h"

struct conf *conf_new(void)
{
	struct conf *c = xcalloc(1, sizeof(*c));

	c->refs = 1;
	for (unsigned i = 0; i < CONF_N_OPTIONS; i++)
		value_set_default(c, i);
	return c;
}

struct conf *conf_ref(const struct conf *c)
{
	struct conf *shared = as_owner(c);

	assert(!shared || shared->refs > 0);
	if (shared)
		shared->refs++;
	return shared;
}

struct conf *conf_unref(const struct conf *shared)
{
	struct conf *c = as_owner(shared);

	assert(!c || c->refs > 0);
	if (!c || --c->refs)
		return NULL;
	for (unsigned i = 0; i < CONF_N_OPTIONS; i++)
		value_free(c, i);
	free(c->file);
	free(c);
	return NULL;
}

struct conf *conf_copy(const struct conf *c)
{
	struct conf *copy = xmemdup(c, sizeof(*c));

	copy->refs = 1;
	copy->file = c->file ? xstrdup(c->file) : NULL;
	for (unsigned i = 0; i < CONF_N_OPTIONS; i++)
		value_own(copy, i);
	return copy;
}

enum conf_source conf_source(const struct conf *c, enum conf_id id)
{
	if (c->copied[id])
		return CONF_SOURCE_COPIED;
	if (c->file_line[id])
		return CONF_SOURCE_FILE;
	if (c->profiled[id])
		return CONF_SOURCE_PROFILE;
	return conf_value_is_default(c, id) ? CONF_SOURCE_DEFAULT : CONF_SOURCE_COMMAND_LINE;
}

bool conf_draws_sa_key(const struct conf *c)
{
	return c->randomize_sa_key || c->sa_key == UINT64_MAX;
}

bool conf_has_secrets(const struct conf *c)
{
	if (c->m_key_per_port || conf_draws_sa_key(c) || c->randomize_sm_key)
		return true;
	for (enum conf_id id = 0; id < CONF_N_OPTIONS; id++)
		if (conf_is_secret(id) && !conf_value_is_default(c, id))
			return true;
	return false;
}

bool conf_engine_is_asked_for(const struct conf *c, const char *name)
{
	_cleanup_free_ char *copy = c->routing_engine ? xstrdup(c->routing_engine) : NULL;
	char *rest = copy;

	for (char *word; (word = strsep(&rest, ", \t\n"));)
		if (strcmp(word, name) == 0)
			return true;
	return false;
}
