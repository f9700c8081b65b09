// SPDX-License-Identifier: BSD-2-Clause
#include "sm/routing/patching.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "fabric/words.h"
#include "route/patch/patch_text.h"
#include "sm/base/about.h"
#include "sm/base/events.h"
#include "sm/base/job.h"
#include "sm/base/news.h"
#include "sm/routing/dead_cables.h"
#include "sm/sm_internal.h"
#include "util/mem.h"

/* Switches that are read here at a time; more wait for the sweep. */
#define LOOKS_MAX     256
/* An incremental sweep that is due within this time reads a switch soon enough. */
#define SOON	      (5 * MONO_MS)
/*
 * A switch that answers nothing for this long after one of its cables died may have lost its power:
 * its other neighbours are asked, whose traps may have been sent over it.
 */
#define SUSPECT	      (10 * MONO_MS)
/* Most switches that are watched for answers because they report a change. */
#define SUSPECTS_MOST 1024
/* Pause between two looks at entries that have no way yet, while Sets are open. */
#define AGAIN	      (20 * MONO_MS)
/* Deaths that follow each other within this time after the last answer are one record. */
#define RECORD	      (50 * MONO_MS)
/* A record does not wait longer for the answers of switches that may be dead. */
#define RECORD_MOST   (300 * MONO_MS)
/* Most ports that are asked at a time, beside the window, which lost SMPs may fill. */
#define ASKED_MOST    16
/* Most ports of one switch, which may be silent. */
#define ASKED_OF_ONE  4
/* Ports that wait and are looked at for one that may be asked. */
#define LOOKED_AT     256

struct end {
	guid_t guid;
	uint8_t port;
};

struct patching {
	const struct multicast_mended *(*mended)(const struct sm *sm);
	const struct routes *of; /* tables that the ground is made for; compared only */
	struct patch_ground *ground;
	bool making;
	bool unfinished; /* set if the last patch came to its limit of steps */
	mono_t again_at;
	bool again;	  /* set if entries may have a way when Sets have arrived */
	struct end *todo; /* ends of cables that died, not patched yet */
	size_t n_todo, cap;
	struct look {
		struct node *node; /* switch whose ports are being read; NULL: a free place */
		unsigned left;	   /* number of answers that are open */
		bool again;	   /* set if it reported another change meanwhile */
	} looks[LOOKS_MAX];
	guid_t *late; /* switches whose tables are written when they answer */
	size_t n_late, late_cap;
	struct ask {
		struct port *port;
		mad_done_fn on_done;
	} * asks; /* ports to be asked; those before `next_ask` have been */
	size_t n_asks, asks_cap, next_ask;
	unsigned n_asked;		      /* number of Gets under way */
	const struct node *asked[ASKED_MOST]; /* their switches; NULL: a free place */
	struct suspect {
		guid_t guid; /* switch at the far end of a dead cable, or that reports a change */
		uint8_t port;
		bool asked; /* set if it was asked, or a sweep does that */
		mono_t since;
	} * suspects;
	size_t n_suspects, suspects_cap;
	struct left {
		guid_t guid;
		mono_t at;	    /* time at which the sweep should have begun to read it */
	} left_to_sweep[LOOKS_MAX]; /* switches that a sweep reads soon */
	unsigned n_left_to_sweep;
	struct {
		struct end ends[2]; /* of the first cable */
		guid_t common[2];   /* nodes that are an end of every cable; 0: none */
		struct patch_tally tally;
		struct multicast_mended mended; /* sums when it was opened */
		mono_t since;			/* time of the news; 0: no record is open */
		mono_t last;			/* time of the last Set, or of the answer to it */
	} record;
};
MACHINE_MEMORY(patching);

/* ---- the ground ------------------------------------------------------------------------------ */

struct making {
	const struct routes *routes; /* one reference */
	struct patch_ground *ground;
};

static int make_ground(void *data)
{
	struct making *m = data;

	routes_settle(m->routes);
	m->ground = patch_ground_new(m->routes);
	return 0;
}

static void ground_made(struct sm *sm, void *data, int error)
{
	struct patching *p = sm->m.patching;
	struct making *m = data;

	p->making = false;
	if (m->routes == p->of)
		p->ground = take(m->ground);
}

static void free_making(void *data)
{
	struct making *m = data;

	patch_ground_free(m->ground);
	routes_unref(m->routes);
	free(m);
}

static void drop_ground(struct patching *p)
{
	p->ground = patch_ground_free(p->ground);
	p->again = p->unfinished = false;
	p->of = NULL;
	p->n_late = 0;
}

void patching_new(struct sm *sm, const struct multicast_mended *(*mended)(const struct sm *sm))
{
	assert(mended);
	sm->m.patching->mended = mended;
}

void patching_free(struct sm *sm)
{
	struct patching *p = sm->m.patching;

	drop_ground(p);
	free(p->todo);
	free(p->late);
	free(p->suspects);
	free(p->asks);
	dead_cables_free(sm);
}

static void add_todo(struct patching *p, guid_t guid, uint8_t port)
{
	GROW(p->todo, p->n_todo + 1, p->cap);
	p->todo[p->n_todo++] = (struct end){ guid, port };
}

/* Other tables are in force: cables that died while they were computed are dead in them, too. */
static void take_tables(struct sm *sm, const struct routes *now)
{
	struct patching *p = sm->m.patching;
	const struct dead_cable *c;

	drop_ground(p);
	p->of = now;
	for (size_t i = 0; (c = dead_cables_at(sm, i)); i++)
		add_todo(p, c->guid, c->port);
}

/* Has a ground made for tables that have come into force. True: it is there. */
static bool is_ready(struct sm *sm)
{
	struct patching *p = sm->m.patching;
	const struct routes *now = sm_routes(sm);
	struct making *m;

	if (sm->state != SM_MASTER || !now) {
		drop_ground(p);
		p->n_todo = 0;
		return false;
	}
	if (p->of != now)
		take_tables(sm, now);
	if (!p->ground && !p->making) {
		m = xcalloc(1, sizeof(*m));
		m->routes = routes_ref(now);
		p->making = true;
		job_start(sm,
			  JOB("making tables ready to be patched", make_ground, ground_made,
			      free_making),
			  m);
	}
	return p->ground;
}

/* ---- the record ------------------------------------------------------------------------------ */

static void record_open(struct sm *sm, const struct port *p, mono_t since)
{
	struct patching *pa = sm->m.patching;
	const struct port *far = p->peer;

	if (!pa->record.since) {
		memset(&pa->record, 0, sizeof(pa->record));
		pa->record.since = since;
		pa->record.mended = *pa->mended(sm);
		pa->record.ends[0] = (struct end){ p->node->guid, p->num };
		if (far)
			pa->record.ends[1] = (struct end){ far->node->guid, far->num };
		for (unsigned i = 0; i < 2; i++)
			pa->record.common[i] = pa->record.ends[i].guid;
	}
	for (unsigned i = 0; i < 2; i++)
		if (pa->record.common[i] != p->node->guid &&
		    (far && pa->record.common[i] != far->node->guid))
			pa->record.common[i] = 0;
	pa->record.last = sm->now;
}

/* The name of the cable, or of the switch that all the cables belong to; "": there is none. */
static void record_object(const struct sm *sm, char *ret, size_t len)
{
	const struct patching *p = sm->m.patching;
	bool one = p->record.tally.cables == 1;
	const struct node *n = NULL;

	ret[0] = '\0';
	for (unsigned i = 0; i < 2 && !n; i++)
		n = fabric_find_node(sm->fabric,
				     one ? p->record.ends[i].guid : p->record.common[i]);
	if (n && one)
		snprintf(ret, len, "%s/%u", node_name(n), p->record.ends[0].port);
	else if (n)
		snprintf(ret, len, "%s", node_name(n));
}

/* The time at which the record is closed; MONO_NEVER: it waits for the ground, or is not open. */
static mono_t record_end(const struct sm *sm)
{
	const struct patching *p = sm->m.patching;
	mono_t last = MAX(p->record.last, sync_patch_answered(sm->sync));

	if (!p->record.since || p->n_todo)
		return MONO_NEVER;
	return last + (sync_patch_open(sm->sync) ? RECORD_MOST : RECORD);
}

static void record_close(struct sm *sm)
{
	struct patching *p = sm->m.patching;
	const struct end *e = p->record.ends;
	char object[NODE_STRLEN], text[PATCH_TEXT_MAX];

	if (sm->now < record_end(sm))
		return;
	p->record.last = MAX(p->record.last, sync_patch_answered(sm->sync));
	p->record.tally.groups = (unsigned)(p->mended(sm)->groups - p->record.mended.groups);
	p->record.tally.branches_waiting =
		(unsigned)(p->mended(sm)->waiting - p->record.mended.waiting);
	if (p->record.tally.cables) {
		record_object(sm, object, sizeof(object));
		p->record.tally.us = (unsigned)((p->record.last - p->record.since) / MONO_US);
		patch_text(object[0] ? object : NULL, &p->record.tally, text, sizeof(text));
		log_verbose("%s", text);
		event_patch(sm, (guid_t[]){ e[0].guid, e[1].guid },
			    (uint8_t[]){ e[0].port, e[1].port }, &p->record.tally, text);
	}
	p->record.since = 0;
}

/*
 * Is a directed route to the switch known, as far as possible by none that may be dead? `laid`: set
 * if routes were laid anew in this turn, which is done once.
 */
static bool is_reached(struct sm *sm, struct node *n, bool *laid)
{
	struct dr_path path;

	if (!incremental_way_holds(sm, n) && !*laid) {
		incremental_lay_ways(sm);
		*laid = true;
	}
	return fabric_port_path(sm->fabric, &n->ports[0], &path) == 0 &&
	       !mad_target_silent(sm->mad, &n->target);
}

/* ---- a patch --------------------------------------------------------------------------------- */

struct held {
	struct node **nodes; /* by switch of the topo */
};

/*
 * The port by which a switch forwards a LID as far as known: what was written last may be on its
 * way, or a switch may not have taken it.
 */
static uint8_t held_port(const void *arg, uint32_t sw, lid_t lid)
{
	const struct held *h = arg;
	const uint8_t *have =
		h->nodes[sw] ? lft_have_block(&h->nodes[sw]->lft, lid / LFT_BLOCK_LIDS) : NULL;

	return have ? have[lid % LFT_BLOCK_LIDS] : LFT_NO_PORT;
}

static struct node **nodes_of(struct sm *sm, const struct topo *t)
{
	struct node **ret = xcalloc(t->n_switches + 1u, sizeof(*ret));

	FABRIC_EACH_NODE(sm->fabric, n) {
		uint32_t sw = node_is_switch(n) ? topo_find_switch(t, n->guid) : TOPO_NONE;

		if (sw != TOPO_NONE)
			ret[sw] = n;
	}
	return ret;
}

/* Entries of topo->ports of the cables that died. The caller frees. */
static uint32_t *take_dead(struct patching *p, const struct routes *now, size_t *ret_n)
{
	uint32_t *dead = xcalloc(p->n_todo + 1, sizeof(*dead));

	*ret_n = 0;
	for (size_t i = 0; i < p->n_todo; i++) {
		uint32_t entry = dead_cable_entry(now, p->todo[i].guid, p->todo[i].port);

		if (entry != TOPO_NONE && !patch_ground_is_dead(p->ground, entry))
			dead[(*ret_n)++] = entry;
	}
	p->n_todo = 0;
	return dead;
}

/* A switch that may be dead gets its tables when it answers: its Sets would hold up others. */
static void write_later(struct patching *p, guid_t guid)
{
	if (p->n_late && p->late[p->n_late - 1] == guid)
		return;
	GROW(p->late, p->n_late + 1, p->late_cap);
	p->late[p->n_late++] = guid;
}

/* Writes the blocks whose entries have changed. */
static void write_blocks(struct sm *sm, const struct patch *patch)
{
	struct patching *p = sm->m.patching;
	const struct patch_entry *last = NULL;
	struct node *n = NULL;
	bool laid = false;

	for (size_t i = 0; i < patch->n; i++) {
		const struct patch_entry *e = &patch->entries[i];
		uint32_t block = e->lid / LFT_BLOCK_LIDS;
		bool other = !last || last->sw != e->sw;

		if (e->how == PATCH_WAITING || (!other && last->lid / LFT_BLOCK_LIDS == block))
			continue;
		last = e;
		if (other)
			n = fabric_find_node(sm->fabric, patch->routes->topo->switches[e->sw].guid);
		p->record.tally.switches += other;
		if (n && node_may_be_dead(n))
			write_later(p, n->guid);
		else if (n && is_reached(sm, n, &laid))
			sync_patch_block(sm->sync, n, e->sw, block);
	}
}

/* Writes the blocks of a switch that differ from what it holds. */
static void write_switch(struct sm *sm, struct node *n)
{
	const struct routes *now = sm_routes(sm);
	uint32_t sw = topo_find_switch(now->topo, n->guid);
	const uint8_t *row = sw == TOPO_NONE ? NULL : routes_row(now, sw);

	for (uint32_t i = 0; row && i < now->row_size / LFT_BLOCK_LIDS; i++) {
		const uint8_t *have = lft_have_block(&n->lft, i);

		if (!have || memcmp(have, row + (size_t)i * LFT_BLOCK_LIDS, LFT_BLOCK_LIDS))
			sync_patch_block(sm->sync, n, sw, i);
	}
}

/* Writes tables of switches that did not answer before. */
static void write_late(struct sm *sm)
{
	struct patching *p = sm->m.patching;
	size_t kept = 0;
	bool laid = false;

	for (size_t i = 0; i < p->n_late; i++) {
		struct node *n = fabric_find_node(sm->fabric, p->late[i]);

		if (n && node_may_be_dead(n))
			p->late[kept++] = p->late[i];
		else if (n && is_reached(sm, n, &laid))
			write_switch(sm, n);
	}
	p->n_late = kept;
}

/* Are Sets under way that may change what switches hold? */
static bool is_writing(const struct sm *sm)
{
	return sync_running(sm->sync) || sync_patch_open(sm->sync);
}

static void patch_now(struct sm *sm)
{
	struct patching *p = sm->m.patching;
	const struct routes *now = sm_routes(sm);
	size_t n_dead;
	_cleanup_free_ uint32_t *dead = take_dead(p, now, &n_dead);
	bool writes = is_writing(sm);
	_cleanup_free_ struct node **nodes = nodes_of(sm, now->topo);
	const struct held held = { nodes };
	_cleanup_(patch_freep) struct patch *patch = NULL;

	if (!n_dead && !p->again && !p->unfinished)
		return;
	patch = patch_make(p->ground, now, dead, n_dead, &(struct patch_held){ held_port, &held });
	p->unfinished = patch->unfinished && patch->routes;
	p->again = (patch->counts[PATCH_BACK] || patch->counts[PATCH_WAITING] || p->again) &&
		   (patch->routes || writes);
	p->again_at = sm->now + AGAIN;
	p->record.tally.cables += dead_cables_count(now, dead, n_dead);
	for (unsigned how = 0; how < PATCH_WAITING; how++)
		p->record.tally.destinations[how] += patch->counts[how];
	p->record.tally.destinations[PATCH_WAITING] = patch->counts[PATCH_WAITING];
	if (n_dead || patch->routes)
		p->record.last = sm->now;
	if (!patch->routes)
		return;
	p->of = patch->routes;
	sync_patch_routes(sm->sync, patch->routes); /* before those of a former patch are freed */
	routing_patch(sm, take(patch->routes));
	tell_news(sm, NEWS_PATCHED);
	patch->routes = routes_ref(sm_routes(sm));
	write_blocks(sm, patch);
}

/* ---- links that are down --------------------------------------------------------------------- */

/* If the switch answers nothing for a moment, its neighbours are asked. */
static void suspect(struct sm *sm, const struct node *n, uint8_t port, bool asked)
{
	struct patching *p = sm->m.patching;

	GROW(p->suspects, p->n_suspects + 1, p->suspects_cap);
	p->suspects[p->n_suspects++] = (struct suspect){ n->guid, port, asked, sm->now };
}

static void note(struct sm *sm, const struct port *p, bool in_picture)
{
	struct patching *pa = sm->m.patching;
	const struct routes *now = sm_routes(sm);

	if (sm->state != SM_MASTER || !now ||
	    dead_cable_entry(now, p->node->guid, p->num) == TOPO_NONE)
		return;
	dead_cables_add(sm, p, in_picture);
	tell_news(sm, NEWS_CABLES_DIED, .ports = &p, .number = 1);
	if (p->peer) {
		observe_cable_died(p->peer->node, sm->now);
		suspect(sm, p->peer->node, p->peer->num, in_picture);
	}
	add_todo(pa, p->node->guid, p->num);
	record_open(sm, p, in_picture ? sm->sweep_started : sm->now);
}

void patching_link_down(struct sm *sm, const struct port *p)
{
	if (node_is_switch(p->node))
		note(sm, p, true);
}

static struct look *look_at(struct patching *p, const struct node *n)
{
	for (unsigned i = 0; i < LOOKS_MAX; i++)
		if (p->looks[i].node == n)
			return &p->looks[i];
	return NULL;
}

static void look(struct sm *sm, struct node *n);

static void look_ended(struct sm *sm, struct node *n)
{
	struct look *l = look_at(sm->m.patching, n);
	bool again;

	assert(l && l->left);
	if (--l->left)
		return;
	again = l->again;
	*l = (struct look){ NULL, 0, false };
	if (again)
		look(sm, n);
}

/* Takes the answer of a switch about a port. True: its link is down, which was not known. */
static bool take_port(struct sm *sm, const struct mad_result *r)
{
	struct port *p = r->arg;

	if (r->end != MAD_END_ANSWERED || ib_get(r->payload, PI_PORT_STATE) != IB_PORT_DOWN ||
	    p->fell || !p->known || port_state(p) <= IB_PORT_DOWN)
		return false;
	observe_fell(p);
	note(sm, p, false);
	return true;
}

/* Replaces `was` in the list of switches that are being asked; NULL: a free place. */
static void note_asked(struct patching *p, const struct node *was, const struct node *now)
{
	for (unsigned i = 0; i < ASKED_MOST; i++)
		if (p->asked[i] == was) {
			p->asked[i] = now;
			return;
		}
}

static void on_port(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;
	struct port *p = r->arg;

	note_asked(sm->m.patching, p->node, NULL);
	sm->m.patching->n_asked--;
	take_port(sm, r);
	look_ended(sm, p->node);
}

/* Asks for the PortInfo of a switch port. False: no way there is known. */
static bool read_port(struct sm *sm, struct port *p, mad_done_fn on_done)
{
	struct dr_path path;
	const struct mad_request rq = {
		.method = MAD_GET,
		.attr = IB_ATTR_PORT_INFO,
		.mod = p->num,
		.path = &path,
		.m_key = p->node->ports[0].m_key,
		.urgent = true,
		.target = &p->node->target,
	};

	if (fabric_port_path(sm->fabric, &p->node->ports[0], &path) < 0)
		return false;
	note_asked(sm->m.patching, NULL, p->node);
	sm->m.patching->n_asked++;
	mad_submit(sm->mad, &rq, on_done, sm, p);
	return true;
}

static void ask_later(struct patching *p, struct port *port, mad_done_fn on_done)
{
	GROW(p->asks, p->n_asks + 1, p->asks_cap);
	p->asks[p->n_asks++] = (struct ask){ port, on_done };
}

static unsigned asked_of(const struct patching *p, const struct node *n)
{
	unsigned ret = 0;

	for (unsigned i = 0; i < ASKED_MOST; i++)
		ret += p->asked[i] == n;
	return ret;
}

/* Takes the first port that waits whose switch is not asked too much; NULL: none. */
static struct port *take_ask(struct patching *p, mad_done_fn *ret_done)
{
	while (p->next_ask < p->n_asks && !p->asks[p->next_ask].port)
		p->next_ask++;
	for (size_t i = p->next_ask; i < p->n_asks && i < p->next_ask + LOOKED_AT; i++) {
		struct port *port = p->asks[i].port;

		if (!port || asked_of(p, port->node) >= ASKED_OF_ONE)
			continue;
		p->asks[i].port = NULL;
		*ret_done = p->asks[i].on_done;
		return port;
	}
	return NULL;
}

/* Asks ports that wait, a few at a time. */
static void ask_more(struct sm *sm)
{
	struct patching *p = sm->m.patching;
	mad_done_fn on_done;
	struct port *port;

	while (p->n_asked < ASKED_MOST && (port = take_ask(p, &on_done)))
		if (!read_port(sm, port, on_done) && on_done == on_port)
			look_ended(sm, port->node);
	if (p->next_ask == p->n_asks)
		p->n_asks = p->next_ask = 0;
	if (p->next_ask <= p->n_asks / 2)
		return;
	p->n_asks -= p->next_ask;
	memmove(p->asks, p->asks + p->next_ask, p->n_asks * sizeof(*p->asks));
	p->next_ask = 0;
}

/* Is a cable between switches there that tables in force may use, and is it up as far as known? */
static bool is_of_tables(const struct sm *sm, const struct port *p)
{
	return node_is_switch(p->node) && p->known && !p->fell && port_state(p) > IB_PORT_DOWN &&
	       sm_routes(sm) && dead_cable_entry(sm_routes(sm), p->node->guid, p->num) != TOPO_NONE;
}

/* Will a sweep read the switch soon? One that waits for a silent switch may not get there. */
static bool is_read_soon(const struct sm *sm)
{
	if (sm->sweep == SWEEP_NONE)
		return incremental_next(sm) <= sm->now + SOON;
	return sm->sweep == SWEEP_INCREMENTAL && incremental_busy(sm);
}

static void look(struct sm *sm, struct node *n)
{
	struct patching *p = sm->m.patching;
	struct look *l = look_at(p, n);

	if (l) {
		l->again = true;
		return;
	}
	l = look_at(p, NULL);
	if (!l || sm->state != SM_MASTER || !sm_routes(sm) ||
	    mad_target_silent(sm->mad, &n->target))
		return;
	l->node = n;
	for (unsigned i = 1; i <= n->n_ports; i++)
		if (is_of_tables(sm, &n->ports[i])) {
			l->left++;
			ask_later(p, &n->ports[i], on_port);
		}
	if (!l->left)
		l->node = NULL;
}

void patching_look(struct sm *sm, struct node *n, bool in_turn)
{
	struct patching *p = sm->m.patching;

	if (in_turn || sm->state != SM_MASTER || sm->sweeping_off || !sm_routes(sm))
		return;
	if (p->n_suspects < SUSPECTS_MOST)
		suspect(sm, n, 0, true); /* it says that it changed, and may not answer */
	if (!is_read_soon(sm))
		look(sm, n);
	else if (p->n_left_to_sweep < LOOKS_MAX)
		p->left_to_sweep[p->n_left_to_sweep++] = (struct left){ n->guid, sm->now + SOON };
}

/* Looks at switches that the sweep should have begun to read by now, and has not. */
static void look_after_sweep(struct sm *sm)
{
	struct patching *p = sm->m.patching;
	unsigned done = 0;

	while (done < p->n_left_to_sweep && sm->now >= p->left_to_sweep[done].at) {
		struct node *n = fabric_find_node(sm->fabric, p->left_to_sweep[done++].guid);

		if (n && n->dirty && sm->state == SM_MASTER)
			look(sm, n);
	}
	p->n_left_to_sweep -= done;
	memmove(p->left_to_sweep, p->left_to_sweep + done,
		p->n_left_to_sweep * sizeof(*p->left_to_sweep));
}

static void on_facing_port(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;
	struct port *p = r->arg;

	note_asked(sm->m.patching, p->node, NULL);
	sm->m.patching->n_asked--;
	if (take_port(sm, r))
		tell_switch(sm, p->node, "a cable to a switch that does not answer is down");
}

/*
 * Switch `n` does not answer: asks the switches next to it whether their ports with cables to `n`
 * are still up.
 */
static void ask_neighbours(struct sm *sm, struct node *n, bool *laid)
{
	for (unsigned i = 1; i <= n->n_ports; i++) {
		struct port *far = n->ports[i].peer;

		if (far && is_of_tables(sm, far) && is_reached(sm, far->node, laid))
			ask_later(sm->m.patching, far, on_facing_port);
	}
}

/* Asks the switch at the far end of a dead cable for its port, once. */
static void ask_suspect(struct sm *sm, struct suspect *s, bool *laid)
{
	struct node *n = s->asked ? NULL : fabric_find_node(sm->fabric, s->guid);

	s->asked = true;
	if (n && s->port <= n->n_ports && is_reached(sm, n, laid))
		ask_later(sm->m.patching, &n->ports[s->port], on_facing_port);
}

/* Asks the neighbours of switches that have been silent since one of their cables died. */
static void look_into_suspects(struct sm *sm)
{
	struct patching *p = sm->m.patching;
	size_t done = 0;
	bool laid = false;

	for (size_t i = 0; i < p->n_suspects; i++)
		ask_suspect(sm, &p->suspects[i], &laid);
	while (done < p->n_suspects && sm->now >= p->suspects[done].since + SUSPECT) {
		struct suspect *s = &p->suspects[done++];
		struct node *n = fabric_find_node(sm->fabric, s->guid);

		if (!n || n->target.answered_at >= s->since || sm->state != SM_MASTER)
			continue;
		observe_cable_died(n, s->since); /* neighbours are asked around it */
		ask_neighbours(sm, n, &laid);
	}
	if (!done)
		return;
	p->n_suspects -= done;
	memmove(p->suspects, p->suspects + done, p->n_suspects * sizeof(*p->suspects));
}

/*
 * The time at which entries are looked at again whose way may be free, as the switch before them
 * goes another way by now. While Sets are open only at times: some may be to a switch that is dead.
 */
static mono_t again_time(const struct sm *sm)
{
	const struct patching *p = sm->m.patching;

	if (p->unfinished)
		return 0;
	if (!p->again || sync_writes_tables(sm->sync))
		return MONO_NEVER;
	return is_writing(sm) ? p->again_at : 0;
}

void patching_feed(struct sm *sm)
{
	struct patching *p = sm->m.patching;

	if (is_ready(sm) && (p->n_todo || sm->now >= again_time(sm)))
		patch_now(sm);
	write_late(sm);
	look_into_suspects(sm);
	look_after_sweep(sm);
	ask_more(sm);
	record_close(sm);
}

bool patching_busy(const struct sm *sm)
{
	return sync_patch_open(sm->sync) && sm->m.patching->record.since &&
	       sm->now < record_end(sm);
}

mono_t patching_next(const struct sm *sm)
{
	const struct patching *p = sm->m.patching;
	mono_t suspect = p->n_suspects ? p->suspects[0].since + SUSPECT : MONO_NEVER;
	mono_t again = p->ground ? again_time(sm) : MONO_NEVER;
	mono_t left = p->n_left_to_sweep ? p->left_to_sweep[0].at : MONO_NEVER;

	return mono_min(mono_min(record_end(sm), again), mono_min(suspect, left));
}

void patching_node_goes(struct sm *sm, struct node *n)
{
	struct patching *p = sm->m.patching;
	struct look *l = look_at(p, n);

	for (size_t i = p->next_ask; i < p->n_asks; i++)
		if (p->asks[i].port && p->asks[i].port->node == n)
			p->asks[i].port = NULL;
	if (l)
		*l = (struct look){ NULL, 0, false };
}
