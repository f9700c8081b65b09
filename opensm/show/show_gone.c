// SPDX-License-Identifier: BSD-2-Clause
/*
 * Nodes that left the fabric, and the port each was behind: an administrator asks for a host that
 * is off by its name, and needs the cable to follow.
 *
 * The daemon remembers the last DAEMON_GONE nodes that left. A snapshot holds those that have not
 * come back.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "show/show_internal.h"
#include "util/mem.h"

void show_gone_copy(struct show *s, const struct daemon_api *api)
{
	const mono_t now = daemon_api_now(api);
	unsigned cap = 0;

	for (unsigned i = 0; i < DAEMON_GONE; i++) {
		if (!api->memory.gone[i].node_guid)
			continue;
		GROW(s->gone, s->n_gone + 1, cap);
		s->gone[s->n_gone] = api->memory.gone[i];
		s->gone[s->n_gone].at = now - api->memory.gone[i].at;
		s->n_gone++;
	}
}

/* Reads a word like show_find(), except GIDs. Of several nodes the one that left last. */
static const struct daemon_gone *find_gone(const struct show *s, const char *word)
{
	const struct daemon_gone *ret = NULL;
	size_t len = names_len_without_port(word);
	uint64_t v = 0;
	bool is_number = show_number(word, UINT64_MAX, &v);

	for (unsigned i = 0; i < s->n_gone; i++) {
		const struct daemon_gone *g = &s->gone[i];
		bool fits = is_number && (g->node_guid == v || g->port_guid == v || g->lid == v);

		if (!is_number)
			fits = names_kinds(NULL, g->name, word, strlen(word)) ||
			       names_kinds(NULL, g->name, word, len);
		if (fits && v + !is_number && (!ret || g->at < ret->at))
			ret = g;
	}
	return ret;
}

static const struct daemon_gone *find_node(const struct show *s, guid_t node_guid)
{
	for (unsigned i = 0; i < s->n_gone && node_guid; i++)
		if (s->gone[i].node_guid == node_guid)
			return &s->gone[i];
	return NULL;
}

/* How long ago, for people. */
static const char *age_str(mono_t age, char ret[32])
{
	long long s = age / MONO_S;

	if (s < 120)
		snprintf(ret, 32, "%lld s", s);
	else if (s < 7200)
		snprintf(ret, 32, "%lld min", s / 60);
	else
		snprintf(ret, 32, "%lld h", s / 3600);
	return ret;
}

bool show_gone_fail(const struct show *s, const char *word, struct control_error *err)
{
	const struct daemon_gone *g = find_gone(s, word), *behind;
	const struct view_node *sw;
	char age[32], other[32];

	if (!g)
		return false;
	age_str(g->at, age);
	sw = g->behind_guid ? view_find_node(s->view, g->behind_guid) : NULL;
	behind = find_node(s, g->behind_guid);
	if (sw)
		control_fail(err, "NotFound",
			     "'%.64s' (0x%016" PRIx64 ") went %s ago. It was behind '%.64s' "
			     "port %u: it is off or unplugged, or that cable fell (see 'ports "
			     "%.64s/%u')",
			     g->name, g->node_guid, age, show_name(s, sw), g->behind_port,
			     show_name(s, sw), g->behind_port);
	else if (behind)
		control_fail(err, "NotFound",
			     "'%.64s' (0x%016" PRIx64 ") went %s ago. It was behind '%.64s' "
			     "port %u, which went %s ago too",
			     g->name, g->node_guid, age, behind->name, g->behind_port,
			     age_str(behind->at, other));
	else
		control_fail(err, "NotFound", "'%.64s' (0x%016" PRIx64 ") went %s ago", g->name,
			     g->node_guid, age);
	return true;
}

#define GONE_FIELDS(F)                                                                             \
	F("node_guid", GUID, p->met_guid)                                                          \
	F("port", INT, p->met_port)                                                                \
	F("name", IF(n || g, STR), n ? show_name(s, n) : g->name)                                  \
	F("gone_seconds", IF(g, INT), g->at / MONO_S)

const struct json_field show_gone_fields[] = FIELDS_TABLE(GONE_FIELDS);

struct json_object *show_gone_of(const struct show *s, const struct view_port *p)
{
	const struct view_node *n;
	const struct daemon_gone *g;

	if (!p->met_guid || p->peer != VIEW_NONE)
		return NULL;
	n = view_find_node(s->view, p->met_guid);
	g = n ? NULL : find_node(s, p->met_guid);
	return FIELDS_NEW(GONE_FIELDS);
}
