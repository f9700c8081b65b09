// SPDX-License-Identifier: BSD-2-Clause
/*
 * Who went lately, and where that was: whoever looks for a host that is off asks for it by name, and
 * has to know which cable to follow.
 *
 * The scene remembers the last SCENE_GONE nodes that went. A snapshot holds those that have not come back.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ctl/show.h"
#include "util/guidmap.h"
#include "util/mem.h"

void show_gone_copy(struct show *s, const struct scene *scene)
{
	mono_t now = 0;
	int64_t realtime;

	for (unsigned i = 0; i < SCENE_GONE; i++)
		s->n_gone += scene->memory.gone[i].node_guid != 0;
	if (!s->n_gone)
		return;
	scene->clock(scene->arg, &now, &realtime);
	s->gone = xcalloc(s->n_gone, sizeof(*s->gone));
	s->n_gone = 0;
	for (unsigned i = 0; i < SCENE_GONE; i++) {
		if (!scene->memory.gone[i].node_guid)
			continue;
		s->gone[s->n_gone] = scene->memory.gone[i];
		s->gone[s->n_gone].at = now - scene->memory.gone[i].at;
		s->n_gone++;
	}
}

static bool is_called(const struct scene_gone *g, const char *word, size_t len)
{
	return len && (strlen(g->name) == len || strcspn(g->name, " ") == len) &&
	       !memcmp(g->name, word, len);
}

/* As show_find() reads a word, GIDs aside. Of several the one that went last. */
static const struct scene_gone *find(const struct show *s, const char *word)
{
	const struct scene_gone *ret = NULL;
	const char *slash = strrchr(word, '/');
	uint64_t v = 0;
	bool is_number = show_number(word, UINT64_MAX, &v);

	for (unsigned i = 0; i < s->n_gone; i++) {
		const struct scene_gone *g = &s->gone[i];
		bool fits = is_number && (g->node_guid == v || g->port_guid == v || g->lid == v);

		if (!is_number)
			fits = is_called(g, word, strlen(word)) ||
			       (slash && is_called(g, word, (size_t)(slash - word)));
		if (fits && v + !is_number && (!ret || g->at < ret->at))
			ret = g;
	}
	return ret;
}

static const struct scene_gone *find_node(const struct show *s, guid_t node_guid)
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
	const struct scene_gone *g = find(s, word), *behind;
	const struct dump_node *sw;
	char age[32], other[32];

	if (!g)
		return false;
	age_str(g->at, age);
	sw = g->behind_guid ? guidmap_get(s->by_node, g->behind_guid) : NULL;
	behind = find_node(s, g->behind_guid);
	if (sw)
		control_fail(err, "NotFound", "'%.64s' (0x%016" PRIx64 ") went %s ago. It was behind '%.64s' "
			     "port %u: it is off or unplugged, or that cable fell (see 'ports %.64s/%u')",
			     g->name, g->node_guid, age, dump_node_name(sw), g->behind_port,
			     dump_node_name(sw), g->behind_port);
	else if (behind)
		control_fail(err, "NotFound", "'%.64s' (0x%016" PRIx64 ") went %s ago. It was behind '%.64s' "
			     "port %u, which went %s ago too", g->name, g->node_guid, age, behind->name,
			     g->behind_port, age_str(behind->at, other));
	else
		control_fail(err, "NotFound", "'%.64s' (0x%016" PRIx64 ") went %s ago", g->name,
			     g->node_guid, age);
	return true;
}

void show_put_gone(struct json_object *o, const struct show *s, const struct dump_port *p)
{
	const struct dump_node *n;
	const struct scene_gone *g;
	struct json_object *was;

	if (!p->met_guid || p->peer != DUMP_NONE)
		return;
	was = json_object_new_object();
	json_add_guid(was, "node_guid", p->met_guid);
	json_add_int(was, "port", p->met_port);
	n = guidmap_get(s->by_node, p->met_guid);
	g = n ? NULL : find_node(s, p->met_guid);
	if (n || g)
		json_add_str(was, "name", n ? dump_node_name(n) : g->name);
	if (g)
		json_add_int(was, "gone_seconds", g->at / MONO_S);
	json_object_object_add(o, "was_cabled_to", was);
}
