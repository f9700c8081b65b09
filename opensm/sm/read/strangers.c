// SPDX-License-Identifier: BSD-2-Clause
#include "sm/read/strangers.h"

#include <string.h>

#include "fabric/store.h"
#include "sm/base/keys.h"
#include "sm/base/news.h"
#include "sm/sm_internal.h"
#include "util/hash.h"
#include "util/mem.h"

/* Time that allows for a run that writes the level, and a sweep that asks. */
#define SHOW_TIME   (30 * MONO_S)
#define SHOW_EVERY  (3600 * MONO_S) /* least time between two for a port that hosts may use */
#define LEVEL_READS 2		    /* least m_key_protection_level at which Gets are refused */

struct strangers {
	uint64_t set; /* hash of the ports that lead to silence, at the last look */
	mono_t until; /* end of the time for which the first switch shows itself */
	bool asked;   /* set if ports were asked since the last one began */
};
MACHINE_MEMORY_WITH(strangers, .until = MONO_NEVER);

void strangers_reset(struct sm *sm)
{
	*sm->m.strangers = (struct strangers){ .until = MONO_NEVER };
}

/* ---- ports ----------------------------------------------------------------------------------- */

/*
 * May only a host be behind the port? True if one was met there, by this process or the one that
 * wrote the file neighbors, and guid_location_policy lets no switch follow a host.
 */
static bool is_for_hosts(const struct sm *sm, const struct port *p)
{
	guid_t guid = 0;
	uint8_t num;
	const struct node *n;

	if (strcmp(sm->conf->guid_location_policy, "hold") != 0)
		return false;
	if (p->met_guid || !store_neighbor(sm->store, p->node->guid, p->num, &guid, &num))
		return p->identity.host;
	n = fabric_find_node(sm->fabric, guid);
	return !n || !node_is_switch(n);
}

/*
 * May a cable to another switch be behind the port? No node answers, or the former one does by
 * another way. A silent host leads nowhere else.
 */
static bool leads_to_silence(const struct sm *sm, const struct port *p)
{
	return p->num && p->known && p->silent && !p->quarantined && port_state(p) > IB_PORT_DOWN &&
	       (!p->peer || p->peer->node->seen == sm->sweep_no) && !is_for_hosts(sm, p);
}

static bool is_showing(const struct sm *sm, const struct port *p)
{
	return p->shown_at && sm->now - p->shown_at < SHOW_TIME;
}

/*
 * May the port be shown now? Hosts could cause it at will, so it is rare if one, or nothing yet,
 * was met there.
 */
static bool may_show(const struct sm *sm, const struct port *p)
{
	return !p->shown_at || sm->now - p->shown_at >= SHOW_EVERY ||
	       (p->met_guid && !p->identity.host);
}

static unsigned count_silent(const struct sm *sm, const struct node *n, uint64_t *set)
{
	unsigned count = 0;

	for (unsigned i = 1; node_is_switch(n) && i <= n->n_ports; i++) {
		if (!leads_to_silence(sm, &n->ports[i]))
			continue;
		*set = hash_bytes(*set, &n->guid, sizeof(n->guid));
		*set = hash_bytes(*set, &i, sizeof(i));
		count++;
	}
	return count;
}

/* ---- showing --------------------------------------------------------------------------------- */

static void begin_to_show(struct sm *sm)
{
	sm->m.strangers->asked = false;
	FABRIC_EACH_NODE(sm->fabric, n) {
		for (unsigned i = 1; node_is_switch(n) && i <= n->n_ports; i++) {
			struct port *p = &n->ports[i];

			if (leads_to_silence(sm, p) && may_show(sm, p))
				p->shown_at = sm->now;
		}
	}
}

/*
 * Looks for new ports that lead to silence. A cable has two ends, so a single port shows nothing.
 */
static void look_for_new(struct sm *sm)
{
	struct strangers *s = sm->m.strangers;
	uint64_t set = HASH_START;
	unsigned n_ports = 0;

	FABRIC_EACH_NODE(sm->fabric, n)
		n_ports += count_silent(sm, n, &set);
	if (set != s->set && n_ports > 1)
		begin_to_show(sm);
	s->set = set;
}

static bool is_at_work(const struct sm *sm)
{
	return sm->state == SM_MASTER && keys_are_single(sm) &&
	       sm->conf->m_key_protection_level >= LEVEL_READS;
}

/* End of the time for which the switch shows itself; MONO_NEVER: it does not. */
static mono_t shows_until(const struct sm *sm, const struct node *n)
{
	mono_t until = MONO_NEVER;

	for (unsigned i = 1; node_is_switch(n) && is_at_work(sm) && i <= n->n_ports; i++) {
		if (is_showing(sm, &n->ports[i]) && leads_to_silence(sm, &n->ports[i]))
			until = mono_min(until, n->ports[i].shown_at + SHOW_TIME);
	}
	return until;
}

/* Shows switches, or ends that. True: the level of one changed. */
static bool show_switches(struct sm *sm)
{
	bool changed = false;

	sm->m.strangers->until = MONO_NEVER;
	FABRIC_EACH_NODE(sm->fabric, n) {
		mono_t until = shows_until(sm, n);
		bool shown = until != MONO_NEVER;

		changed |= n->shown != shown;
		n->shown = shown;
		sm->m.strangers->until = mono_min(sm->m.strangers->until, until);
	}
	return changed;
}

static void ask_ports(struct sm *sm)
{
	sm->m.strangers->asked = true;
	FABRIC_EACH_NODE(sm->fabric, n) {
		for (unsigned i = 1; node_is_switch(n) && i <= n->n_ports; i++) {
			if (leads_to_silence(sm, &n->ports[i]))
				tell_port(sm, &n->ports[i], "it leads to silence");
		}
	}
}

void strangers_look(struct sm *sm)
{
	struct strangers *s = sm->m.strangers;

	if (is_at_work(sm))
		look_for_new(sm);
	if (show_switches(sm))
		tell_news(sm, NEWS_TABLES, .text = "cables between switches are not known");
	else if (s->until != MONO_NEVER && !s->asked)
		ask_ports(sm);
}

void strangers_tick(struct sm *sm)
{
	if (sm->now >= strangers_next(sm))
		strangers_look(sm);
}

mono_t strangers_next(const struct sm *sm)
{
	return sm->sweep == SWEEP_NONE ? sm->m.strangers->until : MONO_NEVER;
}
