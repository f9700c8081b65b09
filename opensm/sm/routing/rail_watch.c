// SPDX-License-Identifier: BSD-2-Clause
/*
 * Looks at rails with a delay: this takes 7 ms for 40,000 end ports, and 46 ms if each adapter has
 * its own name, so hosts that come and go one after another are handled together. A fabric without
 * rails gets none by a new cable between switches.
 */
#include "sm/routing/rail_watch.h"

#include <string.h>

#include "sm/sm_internal.h"

#define LOOK_EVERY (10 * MONO_S)

struct rail_watch {
	const struct topo *topo; /* topology in force, one reference; NULL: no routes yet */
	struct rails *rails;	 /* NULL: rails were never looked for */
	mono_t at;		 /* time of the next look; MONO_NEVER: nothing has changed */
	char text[RAILS_STRLEN]; /* "": no rails */
};
MACHINE_MEMORY_WITH(rail_watch, .at = MONO_NEVER);

void rail_watch_free(struct sm *sm)
{
	topo_unref(sm->m.rail_watch->topo);
	rails_free(sm->m.rail_watch->rails);
}

static bool is_cabled_so(const struct topo *a, const struct topo *b)
{
	uint32_t n = topo_n_entries(a);

	if (n != topo_n_entries(b))
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (a->ports[i].sw != b->ports[i].sw)
			return false;
	return true;
}

static guid_t leaf_of(const struct topo *t, const struct topo_host *h)
{
	return h->sw == TOPO_NONE ? 0 : t->switches[h->sw].guid;
}

static bool has_hosts_so(const struct topo *a, const struct topo *b)
{
	if (a->n_hosts != b->n_hosts)
		return false;
	for (uint32_t i = 0; i < a->n_hosts; i++)
		if (a->hosts[i].guid != b->hosts[i].guid ||
		    leaf_of(a, &a->hosts[i]) != leaf_of(b, &b->hosts[i]))
			return false;
	return true;
}

/* Descriptions of the hosts of `t`, which mostly are in the same order. */
static const char **names_of(const struct fabric *f, const struct topo *t)
{
	const char **ret = xcalloc((size_t)t->n_hosts + 1, sizeof(*ret));
	uint32_t at = 0;

	FABRIC_EACH_NODE(f, n) {
		for (unsigned i = 1; i <= n->n_ports && !node_is_switch(n) && n->desc_known; i++) {
			if (at >= t->n_hosts || t->hosts[at].guid != n->ports[i].guid)
				at = topo_find_host(t, n->ports[i].guid);
			if (at < t->n_hosts)
				ret[at++] = n->desc;
		}
	}
	return ret;
}

/* The part of the text to be logged: without numbers of end ports, which change with every host. */
static const char *worth_telling(const char *text)
{
	const char *names = strchr(text, '(');

	return names ? names : text;
}

static void look(struct sm *sm)
{
	struct rail_watch *w = sm->m.rail_watch;
	_cleanup_free_ const char **names = names_of(sm->fabric, w->topo);
	struct rails *now = rails_find(w->topo, names);
	char text[RAILS_STRLEN];
	bool other;

	rails_str(now, w->topo, names, text);
	other = now->n != (w->rails ? w->rails->n : 0) ||
		strcmp(worth_telling(text), worth_telling(w->text)) != 0;
	rails_free(w->rails);
	w->rails = now;
	memcpy(w->text, text, sizeof(w->text));
	w->at = MONO_NEVER;
	if (other)
		log_info("rails: %s", text[0] ? text : "none any more");
}

static void want_look(struct sm *sm)
{
	struct rail_watch *w = sm->m.rail_watch;

	if (w->at == MONO_NEVER)
		w->at = sm->now + LOOK_EVERY;
}

void rail_watch_routed(struct sm *sm, const struct topo *t)
{
	struct rail_watch *w = sm->m.rail_watch;
	const struct topo *before = w->topo;

	w->topo = topo_ref(t);
	if (!w->rails)
		look(sm);
	else if (!has_hosts_so(before, t) || (w->rails->n && !is_cabled_so(before, t)))
		want_look(sm);
	topo_unref(before);
}

void rail_watch_renamed(struct sm *sm)
{
	if (sm->m.rail_watch->rails)
		want_look(sm);
}

void rail_watch_tick(struct sm *sm)
{
	if (sm->m.rail_watch->at <= sm->now)
		look(sm);
}

mono_t rail_watch_next(const struct sm *sm)
{
	return sm->m.rail_watch->at;
}

const struct rails *sm_rails(const struct sm *sm)
{
	const struct rails *r = sm->m.rail_watch->rails;

	return sm->state == SM_MASTER && r && r->n ? r : NULL;
}

const char *sm_rails_text(const struct sm *sm)
{
	return sm->m.rail_watch->text;
}
