// SPDX-License-Identifier: BSD-2-Clause
/*
 * Links that are left out are taken down, if their reasons ask for it: when no table leads over
 * them, and no packet is sent over them any more.
 *
 *   sweep ended --no table leads over it--> ASKED --answers--> PAUSE --a packet lifetime--> ASKED
 *                                             '--no more packets since--> OVER: Set, it trains
 *
 * Tables are those of this manager; the counter of the devices, PortXmitPkts of
 * PortCountersExtended (16.1.4.11), also sees entries that are not ours. Counted are packets that
 * switches send into the cable; a switch that is left out as a whole is not asked, its neighbour
 * is. Hosts are not asked: their sessions end with the link. SMPs count too, so REST_FEW packets
 * are none. A device without such counters, or that is silent, is waited for a packet lifetime, and
 * no longer.
 *
 * A link is taken down at its switch; between two switches at the one nearer to the manager: its
 * answer does not cross the link that is about to fall, so it is not lost and not asked for twice.
 */
#include "sm/out_of_use/bad_cable.h"

#include <inttypes.h>

#include "ib/codes.h"
#include "sm/base/about.h"
#include "sm/base/news.h"
#include "sm/out_of_use/counters.h"
#include "util/mem.h"

#define WALKS_PER_TICK 16u	    /* walks through tables of whole switches; 2 to 3 ms in total */
#define AGAIN	       (5 * MONO_S) /* pause before a failed Set is repeated */
#define AGAIN_DOUBLES  7u	    /* number of doublings; about 10 minutes then */
#define TELL_TRIES     4u	    /* number of tries without effect after which it is logged */
#define TRAINS_MOST    (10 * MONO_S)
#define LIFETIME_LEAST (1100 * MONO_MS)
#define LIFETIME_MOST  19u /* 4.096 us * 2^19: 2.1 s; 20 and above mean none */

#define REST_FEW      16u
#define REST_PATIENCE (30 * MONO_S)
#define REST_ANSWERS  (10 * MONO_S) /* by then all questions have ended */
#define NO_ROOM	      (100 * MONO_MS) /* pause while too many questions are under way */

#define XMIT_PACKETS_BIT (88u * 8)

static mono_t lifetime(const struct sm *sm)
{
	unsigned code = MIN((unsigned)sm->conf->packet_life_time, LIFETIME_MOST);

	return MAX(LIFETIME_LEAST, ((mono_t)4096 << code) / 1000 * MONO_US);
}

struct port *out_of_use_near_end(struct port *p)
{
	struct port *q = p->peer;

	if (!node_is_switch(p->node) || !node_is_switch(q->node))
		return node_is_switch(p->node) ? p : q;
	return q->node->path.length < p->node->path.length ? q : p;
}

/* The known end whose peer is known, too; NULL: none. */
static struct port *known_end(const struct bad_cable *c)
{
	struct port *p = c->end[0].at && c->end[0].at->peer ? c->end[0].at : c->end[1].at;

	return p && p->peer ? p : NULL;
}

static bool is_above_init(const struct port *p)
{
	return port_state(p) > IB_PORT_INIT || port_state(p->peer) > IB_PORT_INIT;
}

/* ---- do tables lead over it? ----------------------------------------------------------------- */

/* The switch of an end port that is in use; NULL: none. */
static const struct node *switch_of(const struct port *end)
{
	if (node_is_switch(end->node))
		return end->node;
	return end->peer && node_is_switch(end->peer->node) && !out_of_use_is(end) ? end->peer->node
										   : NULL;
}

/*
 * Does the table of `p`'s switch, as far as it is known, lead a reachable LID to `p`? Entries of
 * unreachable LIDs are kept as they are. `part`: out_of_use_parts().
 */
static bool leads_unicast(const struct sm *sm, const uint32_t *part, const struct port *p)
{
	FABRIC_EACH_END_PORT(sm->fabric, end) {
		const struct node *sw = switch_of(end);
		bool has_way = sw && end->lid && part[sw->index] == part[p->node->index];
		unsigned n = has_way ? 1u << end->lmc : 0;

		for (unsigned i = 0; i < n; i++) {
			unsigned lid = end->lid + i;
			const uint8_t *block = lft_have_block(&p->node->lft, lid / LFT_BLOCK_LIDS);

			if (block && block[lid % LFT_BLOCK_LIDS] == p->num)
				return true;
		}
	}
	return false;
}

static bool leads_multicast(const struct port *p)
{
	unsigned end = mft_have_end(&p->node->mft);

	for (unsigned mlid = MFT_FIRST_MLID; mlid < end; mlid++) {
		uint64_t mask[4] = { 0 };

		if (mft_have_row(&p->node->mft, (lid_t)mlid, mask) &&
		    (mask[p->num / 64] >> p->num % 64 & 1))
			return true;
	}
	return false;
}

/*
 * Do tables lead over the link? That of a switch that is left out as a whole does not matter, as no
 * packets reach it.
 */
static bool is_led_to(const struct sm *sm, const uint32_t *part, const struct port *p)
{
	return node_is_switch(p->node) && node_is_routable(p->node) &&
	       (leads_unicast(sm, part, p) || leads_multicast(p));
}

void take_down_end(struct bad_cable *c)
{
	c->down = (struct take_down){ .next = MONO_NEVER };
}

/*
 * Is the use of the link observed? Also that of a drained link: its administrator waits until
 * nothing is routed over it.
 */
static bool is_followed(const struct bad_cable *c)
{
	return c->out && c->shown & (REASONS_WITH(taken_down) | BIT(OUT_DRAINED));
}

static void look_at(struct sm *sm, struct bad_cable *c, const uint32_t *part)
{
	struct take_down *d = &c->down;
	struct port *p = known_end(c);

	if (!is_followed(c) || !p) {
		*d = (struct take_down){ .next = MONO_NEVER, .trains_until = d->trains_until };
		return;
	}
	d->trains_until = 0;
	d->to_look = false;
	d->unrouted = d->unrouted || (!is_led_to(sm, part, p) && !is_led_to(sm, part, p->peer));
	if (!d->unrouted || !(c->shown & REASONS_WITH(taken_down)) || !is_above_init(p))
		*d = (struct take_down){ .unrouted = d->unrouted, .next = MONO_NEVER };
	else if (d->next == MONO_NEVER)
		d->next = sm->now;
}

void take_down_look(struct sm *sm)
{
	struct out_of_use *h = sm->m.out_of_use;

	for (uint32_t i = 0; i < h->n; i++)
		h->cables[i]->down.to_look = true;
	h->n_to_look = h->n;
}

static void look_at_some(struct sm *sm)
{
	struct out_of_use *h = sm->m.out_of_use;
	_cleanup_free_ uint32_t *part = NULL;
	unsigned walks = 0;

	for (uint32_t i = 0; i < h->n; i++) {
		bool walk = is_followed(h->cables[i]) && !h->cables[i]->down.unrouted;

		if (!h->cables[i]->down.to_look)
			continue;
		if (walk && walks >= WALKS_PER_TICK)
			return;
		if (walk && !part)
			part = out_of_use_parts(sm->fabric);
		walks += walk ? 2 : 0;
		look_at(sm, h->cables[i], part);
	}
	h->n_to_look = 0;
}

bool out_of_use_is_looking(const struct sm *sm)
{
	return sm->m.out_of_use->n_to_look;
}

bool out_of_use_trains(const struct sm *sm, const struct port *p)
{
	const struct bad_cable *c = p->out.cable;

	return c && !known_end(c) && sm->now < c->down.trains_until;
}

bool out_of_use_is_down(const struct port *p)
{
	return p->peer && out_of_use_is(p) && p->out.cable->down.unrouted && !is_above_init(p);
}

/* ---- are packets sent over it? --------------------------------------------------------------- */

static void take_counter(struct sm *sm, const struct counters_ask *ask,
			 const struct transport_event *ev)
{
	const struct node *n = fabric_find_node(sm->fabric, ask->node);
	struct bad_cable *c = n && ask->port <= n->n_ports ? n->ports[ask->port].out.cable : NULL;
	struct take_down *d = c ? &c->down : NULL;

	if (!d || d->rest != REST_ASKED || !d->n_asked)
		return;
	if (ev)
		d->packets += ib_bits_get(ev->mad, XMIT_PACKETS_BIT, 64);
	if (--d->n_asked)
		return;
	d->next = sm->now;
	sm->m.out_of_use->next_down = sm->now;
}

/* Asks later if there is no room for both questions: they end within REST_ANSWERS. */
static void ask_both_ends(struct sm *sm, struct bad_cable *c)
{
	const struct counters_ask ask = { .attr = PERF_COUNTERS_EXT,
					  .node = c->end[0].node,
					  .port = c->end[0].port,
					  .done = take_counter };
	struct take_down *d = &c->down;

	if (counters_free(sm) < 2) {
		d->next = sm->now + NO_ROOM;
		return;
	}
	d->rest = REST_ASKED;
	d->n_asked = 0;
	d->packets = 0;
	d->next = sm->now + REST_ANSWERS;
	for (unsigned i = 0; i < 2 && cable_is_between_switches(c); i++) {
		const struct port *p = c->end[i].at;

		if (p && node_is_routable(p->node))
			d->n_asked += counters_get(sm, p, &ask);
	}
	if (!d->n_asked)
		d->next = sm->now;
}

/* ---- cables that fall together --------------------------------------------------------------- */

/* The next cable of the same isolated switch after `port`, which counts up; NULL: none. */
static struct bad_cable *next_of_switch(const struct bad_cable *c, unsigned end, unsigned *port)
{
	const struct node *n = c->end[end].at ? c->end[end].at->node : NULL;

	while (n && n->isolated && ++*port <= n->n_ports) {
		struct bad_cable *other = n->ports[*port].out.cable;

		if (other && other != c && other->down.next != MONO_NEVER)
			return other;
	}
	return NULL;
}

/*
 * Must the cable wait for others? All cables of an isolated switch are taken down when the last is
 * unused.
 */
static bool waits_for_others(const struct bad_cable *c)
{
	for (unsigned end = 0; end < 2; end++) {
		const struct bad_cable *other;

		for (unsigned i = 0; (other = next_of_switch(c, end, &i));)
			if (other->down.rest != REST_OVER)
				return true;
	}
	return false;
}

static void wake_others(const struct sm *sm, const struct bad_cable *c)
{
	for (unsigned end = 0; end < 2; end++) {
		struct bad_cable *other;

		for (unsigned i = 0; (other = next_of_switch(c, end, &i));)
			if (other->down.rest == REST_OVER && !other->down.tries)
				other->down.next = sm->now;
	}
}

static void end_reading(struct sm *sm, struct bad_cable *c)
{
	struct take_down *d = &c->down;
	uint64_t more = d->packets - d->before;
	bool rests = d->n_readings && d->packets >= d->before && more <= REST_FEW;

	d->before = d->packets;
	d->n_readings++;
	if (!rests && (d->n_readings == 1 || sm->now < d->patience)) {
		d->rest = REST_PAUSE;
		d->next = sm->now + lifetime(sm);
		return;
	}
	d->rest = REST_OVER;
	d->next = sm->now;
	wake_others(sm, c);
	if (!rests)
		cable_log(sm, c, LOG_ID_LINK_MARKED, LOGB_ERROR,
			  "it is isolated, although %" PRIu64 " more packets were sent over it to "
			  "which no table of this manager led",
			  more);
}

/* Is the link unused, or was that waited for long enough? If not, the next step is scheduled. */
static bool is_at_rest(struct sm *sm, struct bad_cable *c)
{
	switch (c->down.rest) {
	case REST_NEW:
		c->down.patience = sm->now + REST_PATIENCE;
		c->down.n_readings = 0;
		ask_both_ends(sm, c);
		return false;
	case REST_PAUSE:
		ask_both_ends(sm, c);
		return false;
	case REST_ASKED:
		end_reading(sm, c);
		return false;
	case REST_OVER:
		return true;
	}
	return false;
}

/* ---- taking down ----------------------------------------------------------------------------- */

static void on_taken_down(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;
	struct port *p = r->arg;

	if (r->end == MAD_END_ANSWERED || r->end == MAD_END_TIMEOUT)
		tell_port(sm, p, "an isolated link was taken down");
}

static void take_down(struct sm *sm, struct bad_cable *c)
{
	struct take_down *d = &c->down;
	struct port *p = known_end(c);

	d->next = sm->now + (AGAIN << MIN(d->tries, AGAIN_DOUBLES));
	if (++d->tries == TELL_TRIES)
		cable_log(sm, c, LOG_ID_LINK_MARKED, LOGB_ERROR,
			  "it is to be isolated and stays up: its device was told %u times to "
			  "take the link down, and is told again, less and less often; pull the "
			  "cable if it must be down now",
			  TELL_TRIES - 1);
	if (!p || !c->out || !(cable_reasons(c) & REASONS_WITH(taken_down)) || !is_above_init(p))
		return;
	d->trains_until = sm->now + TRAINS_MOST;
	p = out_of_use_near_end(p);
	sync_take_down(sm->sync, p, on_taken_down, sm, p);
}

static void step(struct sm *sm, struct bad_cable *c)
{
	if (!is_at_rest(sm, c))
		return;
	if (!c->down.tries && waits_for_others(c))
		c->down.next = sm->now + lifetime(sm);
	else
		take_down(sm, c);
}

/* ---- time ------------------------------------------------------------------------------------ */

/* Only between sweeps: a link that is taken down starts one. */
static bool may_take_down(const struct sm *sm)
{
	return sm->state == SM_MASTER && sm->sweep == SWEEP_NONE;
}

void take_down_tick(struct sm *sm)
{
	struct out_of_use *h = sm->m.out_of_use;

	if (!may_take_down(sm) || (!h->n_to_look && sm->now < h->next_down))
		return;
	if (h->n_to_look)
		look_at_some(sm);
	h->next_down = MONO_NEVER;
	for (uint32_t i = 0; i < h->n; i++) {
		if (sm->now >= h->cables[i]->down.next)
			step(sm, h->cables[i]);
		h->next_down = mono_min(h->next_down, h->cables[i]->down.next);
	}
}

mono_t take_down_next(const struct sm *sm)
{
	const struct out_of_use *h = sm->m.out_of_use;

	if (!may_take_down(sm))
		return MONO_NEVER;
	return h->n_to_look ? sm->now : h->next_down;
}
