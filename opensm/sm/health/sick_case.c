// SPDX-License-Identifier: BSD-2-Clause
/* The table of cases: the link and the ports of each, its disabled port, and when it is stored. */
#include "sm/health/sick_internal.h"

#include <string.h>

#include "util/mem.h"

#define SAVE_SOON (10 * MONO_S) /* delay before a finding is stored */
#define NO_CLOCK  10000000 /* value of an unknown time: buckets are numbered from 1 */

int64_t sick_time(const struct sm *sm)
{
	int64_t at = sm_realtime(sm);

	return at ? at : NO_CLOCK + sm->now / MONO_S;
}

/* ---- changes --------------------------------------------------------------------------------- */

void sick_note_change(struct sick *k)
{
	k->changed = true;
	k->version++;
}

void sick_save_soon(struct sm *sm)
{
	sm->m.sick->save_at = mono_min(sm->m.sick->save_at, sm->now + SAVE_SOON);
}

/* ---- ports and links ------------------------------------------------------------------------- */

struct port *sick_port_at(const struct sm *sm, const struct health_end *e)
{
	struct node *n = fabric_find_node(sm->fabric, e->node);

	return n && e->port && e->port <= n->n_ports ? &n->ports[e->port] : NULL;
}

struct port *sick_switch_end(const struct sm *sm, const struct health_verdict *v)
{
	for (unsigned i = 0; i < 2; i++) {
		struct port *p = sick_port_at(sm, &v->end[i]);

		if (p && p->peer && node_is_switch(p->node) &&
		    p->peer->node->guid == v->end[!i].node && p->peer->num == v->end[!i].port)
			return p;
	}
	return NULL;
}

uint32_t sick_link_at(struct sm *sm, const struct port *p)
{
	struct health_end a = { p->node->guid, p->num }, b;

	if (!p->num || !p->peer || p->peer == p || !p->peer->num)
		return UINT32_MAX;
	b = (struct health_end){ p->peer->node->guid, p->peer->num };
	return health_link(sm->m.sick->judge, a, b,
			   !node_is_switch(p->node) || !node_is_switch(p->peer->node));
}

uint32_t sick_link_of(struct sm *sm, guid_t node, unsigned port)
{
	const struct health_end e = { node, (uint8_t)port };
	struct port *p = sick_port_at(sm, &e);
	uint32_t link = p ? sick_link_at(sm, p) : UINT32_MAX;

	return link != UINT32_MAX ? link : health_find(sm->m.sick->judge, node, port);
}

static bool is_end(const struct health_end *a, const struct health_end *b)
{
	return a->node == b->node && a->port == b->port;
}

bool sick_off_is_of(const struct health_off *o, const struct health_verdict *v)
{
	return (is_end(&o->at, &v->end[0]) && is_end(&o->far, &v->end[1])) ||
	       (is_end(&o->at, &v->end[1]) && is_end(&o->far, &v->end[0]));
}

const struct health_off *sick_off_of(const struct sick *k, uint32_t link)
{
	const struct health_off *o;

	for (uint32_t i = 0; (o = health_off_at(k->judge, i)); i++)
		if (sick_off_is_of(o, health_verdict(k->judge, link)))
			return o;
	return NULL;
}

/* ---- cases ----------------------------------------------------------------------------------- */

uint32_t sick_case_of(const struct sick *k, uint32_t link)
{
	return link < k->n_by_link && k->by_link[link] ? k->by_link[link] - 1 : SICK_NO_CASE;
}

static void need_place(struct sick *k, uint32_t link)
{
	uint32_t n = MAX(2 * k->n_by_link, MAX(link + 1, 64u));

	if (link < k->n_by_link)
		return;
	k->by_link = xrealloc(k->by_link, n, sizeof(*k->by_link));
	memset(k->by_link + k->n_by_link, 0, (n - k->n_by_link) * sizeof(*k->by_link));
	k->n_by_link = n;
}

struct sick_case *sick_need_case(struct sick *k, uint32_t link)
{
	uint32_t i = sick_case_of(k, link);

	if (i != SICK_NO_CASE)
		return &k->all[i];
	GROW(k->all, k->n + 1, k->cap);
	need_place(k, link);
	k->by_link[link] = k->n + 1;
	k->all[k->n] = (struct sick_case){ .link = link, .state = SICK_UNDECIDED };
	return &k->all[k->n++];
}
