// SPDX-License-Identifier: BSD-2-Clause
#include "sm/read/strangers.h"

#include "sm/base/keys.h"
#include "sm/base/news.h"
#include "sm/sm_internal.h"
#include "util/hash.h"
#include "util/mem.h"

/* Long enough for a run that writes the level, and one that asks. */
#define SHOW_TIME   (30 * MONO_S)
#define LEVEL_READS 2 /* m_key_protection_level from which on Gets are refused */

struct strangers {
	uint64_t set; /* of ports that lead to silence, at the last look */
	mono_t until; /* so long may their switches show themselves */
	bool shown;   /* some do */
	bool asked;   /* the ports, while they do */
};

void strangers_new(struct sm *sm)
{
	sm->m.strangers = xcalloc(1, sizeof(*sm->m.strangers));
	strangers_reset(sm);
}

void strangers_free(struct sm *sm)
{
	free(sm->m.strangers);
	sm->m.strangers = NULL;
}

void strangers_reset(struct sm *sm)
{
	*sm->m.strangers = (struct strangers){ 0 };
}

/* No node answers, or not the one that was there, which does by another way. */
static bool leads_to_silence(const struct sm *sm, const struct port *p)
{
	return p->num && p->known && p->silent && !p->quarantined && port_state(p) > IB_PORT_DOWN &&
	       (!p->peer || p->peer->node->seen == sm->sweep_no);
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

/* Some that lead to silence, and have not for long. */
static bool is_time_to_show(struct sm *sm)
{
	struct strangers *s = sm->m.strangers;
	uint64_t set = HASH_START;
	unsigned n_ports = 0;

	if (sm->state != SM_MASTER || !keys_ring(sm) ||
	    sm->conf->m_key_protection_level < LEVEL_READS)
		return false;
	FABRIC_EACH_NODE(sm->fabric, n)
		n_ports += count_silent(sm, n, &set);
	if (set != s->set) {
		s->set = set;
		s->until = sm->now + SHOW_TIME;
		s->asked = false;
	}
	return n_ports > 1 && sm->now < s->until;
}

/* True: any has another level from now on. */
static bool show_switches(struct sm *sm, bool show)
{
	bool changed = false;

	FABRIC_EACH_NODE(sm->fabric, n) {
		bool shown = show && count_silent(sm, n, &(uint64_t){ 0 });

		changed |= n->shown != shown;
		n->shown = shown;
	}
	return changed;
}

static void ask_ports(struct sm *sm)
{
	FABRIC_EACH_NODE(sm->fabric, n) {
		for (unsigned i = 1; n->shown && i <= n->n_ports; i++) {
			if (leads_to_silence(sm, &n->ports[i]))
				tell_port(sm, &n->ports[i], "it leads to silence");
		}
	}
}

void strangers_look(struct sm *sm)
{
	struct strangers *s = sm->m.strangers;
	bool show = is_time_to_show(sm);

	if (show_switches(sm, show)) {
		tell_news(sm, NEWS_TABLES, .text = "cables between switches are not known");
	} else if (show && !s->asked) {
		s->asked = true;
		ask_ports(sm);
	}
	s->shown = show;
}

void strangers_tick(struct sm *sm)
{
	if (sm->now >= strangers_next(sm))
		strangers_look(sm);
}

mono_t strangers_next(const struct sm *sm)
{
	const struct strangers *s = sm->m.strangers;

	return s->shown && sm->sweep == SWEEP_NONE ? s->until : MONO_NEVER;
}
