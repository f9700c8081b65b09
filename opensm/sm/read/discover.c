// SPDX-License-Identifier: BSD-2-Clause
/*
 * Discovery: breadth first by chaining of answers, nothing asked twice.
 *
 *   NodeInfo(self) -> its PortInfo -> NodeInfo through every port that is up -> ...
 *   a switch:  NodeDesc, SwitchInfo -> PortInfo(0) -> PortInfo(1..N) -> probes
 *   a host:    NodeDesc, PortInfo of the port we arrived at
 *
 * A cable is asked about from one end only: a probe that waits in the queue is dropped when its
 * cable has become known from the other end meanwhile. Silence is unknown, not gone: a node that
 * does not answer keeps its place for some sweeps (forget.c). A node that claims a GUID that is
 * already on another cable is left out (quarantined), the rest goes on.
 *
 * Answers are taken in by fabric/observe. What is missing afterwards is settled in forget.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "health/judge.h"
#include "ib/words.h"
#include "sm/read/discover_internal.h"
#include "sm/base/events.h"
#include "sm/base/about.h"
#include "sm/base/keys.h"
#include "sm/base/news.h"
#include "sm/read/capability.h"
#include "util/mem.h"

MACHINE_MEMORY(discover);

static void ask_switch_ports(struct sm *sm, struct node *n, unsigned first);

void discover_new(struct sm *sm, const struct discover_questions *ask)
{
	struct discover *d = sm->m.discover;

	d->name_log = (struct log_limit){ .interval = MONO_S, .burst = 10 };
	d->fault_log = (struct log_limit){ .interval = MONO_S, .burst = 20 };
	d->claim_log = (struct log_limit){ .interval = 10 * MONO_S, .burst = 10 };
	d->ask = *ask;
}

uint32_t discover_stamp(struct sm *sm, bool partial)
{
	sm->m.discover->partial = partial;
	sm->m.discover->cables_changed = sm->m.discover->cables_moved = false;
	return ++sm->sweep_no;
}

void discover_waits(struct sm *sm)
{
	sm->m.discover->pending++;
}

void discover_answered(struct sm *sm)
{
	sm->m.discover->pending--;
	sm->m.discover->last_end = sm->now;
}

bool discover_busy(const struct sm *sm)
{
	return sm->m.discover->pending + sm->m.discover->descs_pending > 0;
}

bool discover_is_partial(const struct sm *sm)
{
	return sm->m.discover->partial;
}

void discover_know_master(struct sm *sm, lid_t lid)
{
	sm->m.discover->former_master = lid;
}

bool discover_cables_moved(const struct sm *sm)
{
	return sm->m.discover->cables_moved;
}

static void ask(struct sm *sm, const struct mad_request *rq, mad_done_fn fn, void *arg)
{
	sm->m.discover->pending++;
	mad_submit(sm->mad, rq, fn, sm, arg);
}

void discover_get(struct sm *sm, struct node *n, uint16_t attr, uint32_t mod, mad_done_fn fn)
{
	const struct mad_request rq = {
		.method = MAD_GET,
		.attr = attr,
		.mod = mod,
		.path = &n->path,
		.m_key = n->ports[0].m_key,
		.target = &n->target,
	};

	mad_submit(sm->mad, &rq, fn, sm, n);
}

/* ---- probes: which node is behind a port? ---- */

static void on_probe(void *owner, const struct mad_result *r);

static void ask_behind(struct sm *sm, const struct mad_request *rq, struct port *p)
{
	p->probes++;
	ask(sm, rq, on_probe, p);
}

/* Forgets the cable of an isolated port; its own PortInfo is still read. */
static bool leave_out_hidden(struct sm *sm, struct port *p)
{
	struct delta d;

	if (!sm->m.discover->ask.is_hidden(sm, p))
		return false;
	d = observe_left_out(p, PORT_ODD_HIDDEN);
	sm->m.discover->cables_changed |= (d.kinds & DELTA(DELTA_CABLE_GONE)) != 0;
	tell_delta(sm, &d);
	return true;
}

static bool probe_is_wanted(void *owner, void *arg)
{
	const struct port *p = arg;

	return !p->peer || p->peer_seen != ((const struct sm *)owner)->sweep_no;
}

static void probe(struct sm *sm, struct port *p)
{
	struct dr_path path;
	uint64_t more[DISCOVER_KEYS];
	struct mad_request rq;
	unsigned n;

	if (!probe_is_wanted(sm, p) || leave_out_hidden(sm, p))
		return;
	if (!discover_probe_is(sm, p, &path, &rq)) {
		observe_left_out(p, PORT_ODD_TOO_FAR);
		if (log_allow(&sm->m.discover->fault_log, sm->now, &(unsigned){ 0 }))
			log_port(p, LOG_ID_LEFT_OUT, LOGB_VERBOSE,
				 "more than %u hops away, what is behind is left out", IB_MAX_HOPS);
		return;
	}
	rq.wanted = probe_is_wanted;
	n = discover_other_mkeys(sm, p, rq.m_key, more);
	if (discover_asks_at_once(sm, p, n))
		mad_target_wake(p->behind);
	discover_drop_late(sm, p);
	p->inc.heard = false;
	ask_behind(sm, &rq, p);
	for (unsigned i = 0; i < n; i++) {
		rq.m_key = more[i];
		ask_behind(sm, &rq, p);
	}
}

/* Tries both keys at once: one after the other would cost a timeout at many nodes. */
static void keys_are_mixed(struct sm *sm)
{
	sm->m.discover->keys_mixed = true;
	FABRIC_EACH_NODE(sm->fabric, n) {
		for (unsigned i = 0; i <= n->n_ports; i++) {
			struct port *p = &n->ports[i];

			if (!fabric_is_probed(p))
				continue;
			discover_cancel_probes(sm, p);
			probe(sm, p);
		}
	}
}

/* Only for discovery: other sweeps ask these ports in other ways. */
void discover_keys_are_mixed(struct sm *sm)
{
	if (discover_busy(sm) && sm->sweep != SWEEP_LIGHT)
		keys_are_mixed(sm);
}

void discover_port_begins(struct port *p)
{
	p->suspect = p->quarantined;
	if (!p->quarantined)
		told_change(&p->logged, TOLD_QUARANTINE, false);
	if (!p->silent)
		told_change(&p->logged, TOLD_SILENT_BEHIND, false);
}

/* Isolates a node behind `p` that answers with the GUID of `n`. */
static void quarantine(struct sm *sm, struct port *p, const struct node *n, const char *why)
{
	observe_quarantine(p, true);
	if (!told_first(&p->logged, TOLD_QUARANTINE))
		return;
	log_port(p, LOG_ID_DUPLICATE_GUID, LOGB_ERROR,
		 "behind it is a second node with GUID 0x%016" PRIx64 " ('%s'): %s; it is left out",
		 n->guid, node_name(n), why);
	/* the first one may have moved here since it was met, so a sweep looks again */
	want_sweep(sm, SWEEP_HEAVY, "a GUID was met twice");
	tell_news(sm, NEWS_CONTRADICTED);
}

static void ask_port_info(struct sm *sm, struct port *p);
static void ask_switch_info(struct sm *sm, struct node *n);

/*
 * Is the key in its answer believed? A switch that was met before in this sweep has shown its key,
 * and answers to any at protection levels 0 and 1. For others PortInfo shows it.
 */
static bool believes_key(const struct node *n, bool first)
{
	return first || !node_is_switch(n);
}

/* Handles the first answer of a node in this sweep: everything else about it is asked now. */
static void meet(struct sm *sm, struct port *at, const struct dr_path *path)
{
	struct node *n = at->node;
	struct port *sma = port_of_sma(at);
	uint64_t key = keys_expected(sm, sma->guid, 0), met = sm->m.discover->met_by_m_key;
	bool first = n->seen != sm->sweep_no || n->misses;

	if (n->misses)
		sync_node_back(n);
	n->seen = sm->sweep_no;
	node_desc_met(sm, n);
	if (first)
		mad_target_revive(&n->target);
	if (first && (node_is_switch(n) || path->length == 0))
		observe_path(n, path);
	if (met && sma->m_key && sma->m_key != met && believes_key(n, first))
		observe_mkey_tried(sma, met);
	observe_expected_mkey(sma, met ? met : key,
			      met && met != key ? key : keys_expected(sm, sma->guid, 1));
	if (first && !n->desc_known)
		discover_ask_desc(sm, at, path);
	if (!node_is_switch(n))
		ask_port_info(sm, at);
	else if (first)
		ask_switch_info(sm, n);
}

/*
 * The node of a NodeInfo: known, new, or in place of one with its GUID that was not met in this
 * sweep. `asker` is not replaced, as the question went through it; NULL: our own port was asked.
 */
static struct delta node_of(struct sm *sm, const struct node *asker, const uint8_t *ni)
{
	struct delta d = observe_node_info(sm->fabric, ni);
	struct node *n = d.node;

	if (n && n->seen != sm->sweep_no && n != sm->fabric->own && n != asker &&
	    !observe_is_same(n, ni)) {
		log_on(about_node(LOG_ID_NODE_GONE, n), LOGB_INFO,
		       "node 0x%016" PRIx64 " ('%s') was replaced by another with its GUID",
		       n->guid, node_name(n));
		forget_node(sm, n);
		d = observe_node_info(sm->fabric, ni);
	}
	tell_delta(sm, &d);
	return d;
}

/*
 * Decides between two cables that both claim an end in this sweep. The one that was left out in the
 * last sweep loses again; otherwise the later one. True: `a` may have it.
 */
static bool settle_conflict(struct sm *sm, struct port *a, struct port *b)
{
	struct port *other = b->peer;

	if (!other || other == a || b->peer_seen != sm->sweep_no)
		return true;
	if (other->suspect && !a->suspect) {
		quarantine(sm, other, b->node, "left out before");
		return true;
	}
	quarantine(sm, a, b->node, "the first one is on another cable");
	return false;
}

static void leave_out_nonsense(struct sm *sm, struct port *p, const uint8_t *ni)
{
	observe_left_out(p, PORT_ODD_NONSENSE);
	tell_news(sm, NEWS_BAD_ANSWER, .port = p, .number = HEALTH_ILLEGAL, .flag = true);
	if (log_allow(&sm->m.discover->fault_log, sm->now, &(unsigned){ 0 }))
		log_port(p, LOG_ID_LEFT_OUT, LOGB_ERROR,
			 "behind it answers a node with an impossible NodeInfo (GUID 0x%016" PRIx64
			 ", %u ports, arrived at port %u); it is left out",
			 (guid_t)ib_get(ni, NI_NODE_GUID), (unsigned)ib_get(ni, NI_NUM_PORTS),
			 (unsigned)ib_get(ni, NI_LOCAL_PORT));
}

static void leave_out_loopback(struct sm *sm, struct port *p)
{
	struct delta d = observe_left_out(p, PORT_ODD_LOOPBACK);

	sm->m.discover->cables_changed |= (d.kinds & DELTA(DELTA_CABLE_GONE)) != 0;
	tell_delta(sm, &d);
	log_port(p, LOG_ID_LEFT_OUT, LOGB_VERBOSE, "a loopback plug");
}

/*
 * Is `b` a further plane of a host's port? Each plane answers by a port of its own with the same
 * GUID: they are one end port, which is served through the first that was met.
 */
static bool is_further_plane(const struct sm *sm, const struct port *b, const uint8_t *ni)
{
	const struct port *first = fabric_find_port(sm->fabric, ib_get(ni, NI_PORT_GUID));

	return !node_is_switch(b->node) && first && first != b && first->node == b->node &&
	       (first->peer || first == sm->fabric->own_port);
}

static void leave_out_plane(struct sm *sm, struct port *p, const struct port *b)
{
	bool is_news = p->odd != PORT_ODD_PLANE;

	observe_left_out(p, PORT_ODD_PLANE);
	if (is_news)
		log_port(p, LOG_ID_LEFT_OUT, LOGB_VERBOSE,
			 "port %u of '%s', a further plane of its port", b->num,
			 node_name(b->node));
}

/* Connects port `b`, which answered behind port `a`. */
static void connect_ports(struct sm *sm, struct port *a, struct port *b)
{
	bool was_out;
	struct delta d = observe_cable(a, b, &was_out);
	struct dr_path path;

	sm->m.discover->cables_changed |= (d.kinds & DELTA(DELTA_CABLE)) != 0;
	sm->m.discover->cables_moved |= was_out;
	if (b->node->seen != sm->sweep_no)
		d.kinds |= DELTA(DELTA_BACK);
	a->inc.carried_over = b->inc.carried_over = false;
	a->peer_seen = b->peer_seen = sm->sweep_no;
	a->key_try = a->volleys = b->key_try = b->volleys = 0;
	identity_met(sm, a, b);
	if (d.kinds & DELTA(DELTA_CABLE))
		lids_note_cable(sm, a, b);
	tell_delta(sm, &d);
	dr_path_extend(&a->node->path, a->num, &path);
	meet(sm, b, &path);
}

/* Handles a node that answered through port `a`. */
static void arrive(struct sm *sm, struct port *a, const uint8_t *ni)
{
	struct delta d;
	struct port *b;

	if (identity_holds(sm, a, ni))
		return;
	d = node_of(sm, a->node, ni);
	b = d.port;
	if (!b || !ib_get(ni, NI_LOCAL_PORT)) {
		leave_out_nonsense(sm, a, ni);
	} else if (b == a) {
		leave_out_loopback(sm, a);
	} else if (!observe_is_same(d.node, ni)) {
		quarantine(sm, a, d.node, "it is of another kind");
	} else if (is_further_plane(sm, b, ni)) {
		leave_out_plane(sm, a, b);
	} else if (sm->m.discover->ask.is_in_question(sm, a, b) || !settle_conflict(sm, a, b)) {
		return;
	} else if (!node_is_switch(d.node) &&
		   observe_port_guid(sm->fabric, b, ib_get(ni, NI_PORT_GUID)) < 0) {
		tell_news(sm, NEWS_SOFT_FAULT); /* its owner may be about to be forgotten */
		quarantine(sm, a, d.node, "its port GUID belongs to another port");
	} else {
		connect_ports(sm, a, b);
	}
}

static void on_probe(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;
	struct port *p = r->arg;

	if (discover_ended_late(sm, p, r))
		return;
	discover_answered(sm);
	/*
	 * The node was met from the other end in the meantime: it is not silent, the key was wrong.
	 */
	if (r->end == MAD_END_TIMEOUT && !probe_is_wanted(sm, p))
		return;
	if (mad_doubts_key(r) && !sm->m.discover->keys_mixed &&
	    discover_rival_mkey(sm, p, r->m_key))
		keys_are_mixed(sm);
	if (mad_doubts_key(r))
		discover_doubt_behind(sm, p, r->m_key);
	if (r->end == MAD_END_TIMEOUT && !fabric_is_probed(p) &&
	    !discover_is_late_stranger(sm, p) &&
	    (discover_worth_asking_again(sm, p, r) || discover_worth_another_key(sm, p, r))) {
		probe(sm, p);
		return;
	}
	switch (r->end) {
	case MAD_END_ANSWERED:
		discover_cancel_probes(sm, p); /* probes of the same node with other keys */
		sm->m.discover->met_by_m_key = r->m_key;
		arrive(sm, p, r->payload);
		sm->m.discover->met_by_m_key = 0;
		p->key_try = p->volleys = 0;
		observe_silence(p, false);
		fabric_behind_done(p);
		break;
	case MAD_END_BAD_STATUS:
	case MAD_END_TIMEOUT:
		discover_found_silent(sm, p);
		discover_say_silent(sm, p, r);
		break;
	case MAD_END_CANCELLED: /* usually the cable was met from the other end */
		if (!p->silent)
			fabric_behind_done(p);
		break;
	}
}

/* ---- PortInfo ------------------------------------------------------------------------------ */

/*
 * Does an end port have addresses that are not ours, as it rebooted or another manager set it up?
 */
static bool is_not_ours(const struct sm *sm, const struct port *p)
{
	const struct port *own = sm->fabric->own_port;
	lid_t master = ib_get(p->info, PI_MASTER_SM_LID), former = sm->m.discover->former_master;

	return port_is_end(p) && (ib_get(p->info, PI_LID) != p->lid || !own ||
				  (master != own->lid && (!master || master != former)));
}

/* Asks with all likely keys at once, each once per sweep. */
static bool ask_with_another_key(struct sm *sm, struct port *p)
{
	unsigned n = fabric_hides_mkey(p) ? keys_n_expected(sm, port_of_sma(p)->guid) : 0;

	if (!n)
		return false;
	observe_mkey_hidden(port_of_sma(p), sm->sweep_no);
	if (port_of_sma(p)->keys_tried >= n) {
		if (log_allow(&sm->m.discover->fault_log, sm->now, &(unsigned){ 0 }))
			log_port(p, LOG_ID_LOCKED, LOGB_ERROR,
				 "its M_Key is not known here, and it can be read only: it is left "
				 "as it is");
		return false;
	}
	keys_next(sm, p);
	ask_port_info(sm, p);
	return true;
}

/* Notes that a port showed its key to this manager as MASTER; hidden later, it is another's. */
static void note_shown_key(struct sm *sm, struct port *p, bool had_key)
{
	if (sm->state == SM_MASTER && (had_key || ib_get(p->info, PI_M_KEY)))
		p->key_shown = sm->sweep_no;
	if (p->key_shown && fabric_hides_mkey(p))
		tell_news(sm, NEWS_KEY_HIDDEN, .port = p);
}

static void take_port_info(struct sm *sm, struct port *p, const uint8_t *payload)
{
	bool had_key = p->known && ib_get(p->info, PI_M_KEY), was_known = p->known;
	uint8_t before[SMP_DATA_SIZE];
	struct delta d;

	memcpy(before, p->info, sizeof(before));
	d = observe_port_info(sm->fabric, p, payload);

	/* A switch is reported if the last complete picture was without it. */
	if (p->num == 0 && (int32_t)(p->seen - discover_picture(sm)) < 0)
		observe_shown(p->node);
	p->seen = sm->sweep_no;
	note_shown_key(sm, p, had_key);
	capability_read(sm, p, was_known && !(d.kinds & DELTA(DELTA_TRAINED)) ? before : NULL);
	tell_delta(sm, &d);
	if (port_is_end(p) && p->guid)
		keys_shown(sm, p->guid, ib_get(payload, PI_M_KEY));
	if (d.kinds & DELTA(DELTA_LINK_DOWN))
		told_change(&p->logged, TOLD_QUARANTINE, false);
	if (port_is_end(p) && port_state(p) > IB_PORT_DOWN && !fabric_hides_mkey(p))
		store_set_mkey(sm->store, p->guid, p->m_key);
	/* A port that is kept in INIT on purpose keeps its tables, unless it rebooted. */
	if ((!port_is_live(p) && !p->out.held) || is_not_ours(sm, p))
		observe_blocks_lost(sm->fabric, p);
	if (node_is_switch(p->node) && p->num == 0 && is_not_ours(sm, p))
		observe_tables_lost(p->node);
}

void discover_doubt_cable(struct port *p)
{
	if (!p->peer)
		return;
	p->peer_seen = p->peer->peer_seen = 0;
	p->inc.carried_over = p->peer->inc.carried_over = false;
}

static void on_port_info(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;
	struct port *p = r->arg;
	struct node *n = p->node;

	discover_answered(sm);
	if (r->end == MAD_END_BAD_STATUS && (r->mod & PI_MOD_EXTENDED_SPEEDS) &&
	    r->status != MAD_STATUS_BUSY) {
		observe_no_ext_modifier(n);
		ask_port_info(sm, p);
		return;
	}
	if (mad_doubts_key(r))
		keys_doubt(sm, p, r->m_key);
	if (discover_worth_asking_again(sm, p, r)) {
		ask_port_info(sm, p);
		return;
	}
	if (r->end == MAD_END_ANSWERED)
		take_port_info(sm, p, r->payload);
	else if (r->end != MAD_END_CANCELLED)
		discover_note_fault(sm, "Get", p, r);
	if (r->end == MAD_END_ANSWERED && ask_with_another_key(sm, p))
		return;
	if (r->end == MAD_END_TIMEOUT && p == sm->fabric->own_port)
		tell_news(sm, NEWS_OWN_SILENT, .text = "PortInfo");
	if (r->end == MAD_END_TIMEOUT || r->end == MAD_END_CANCELLED)
		return;
	if (node_is_switch(n) && p->num == 0) {
		ask_switch_ports(sm, n, 1);
		return;
	}
	discover_ask_ext_port_info(sm, p);
	if (!node_is_switch(n) && p != sm->fabric->own_port) {
		if (p->known && (ib_get(p->info, PI_CAP_MASK) & IB_CAP(IB_CAP_IS_SM)))
			tell_news(sm, NEWS_MANAGER_MET, .port = p);
		return;
	}
	/* The change that its switch reports may be one of this cable. */
	if (sm->m.discover->partial && p->raised && node_is_switch(n))
		discover_doubt_cable(p);
	if (port_state(p) > IB_PORT_DOWN && !discover_asks_silent(sm, p))
		probe(sm, p);
}

static void ask_port_info(struct sm *sm, struct port *p)
{
	struct dr_path path;
	const struct mad_request rq = {
		.method = MAD_GET,
		.attr = IB_ATTR_PORT_INFO,
		.mod = p->num | (p->node->no_ext_modifier ? 0 : PI_MOD_EXTENDED_SPEEDS),
		.path = &path,
		.m_key = port_of_sma(p)->m_key,
		.target = &p->node->target,
	};

	if (fabric_port_path(sm->fabric, p, &path) == 0)
		ask(sm, &rq, on_port_info, p);
}

static void ask_switch_ports(struct sm *sm, struct node *n, unsigned first)
{
	const struct port *p0 = &n->ports[0];

	if (p0->known && n != sm->fabric->own &&
	    (ib_get(p0->info, PI_CAP_MASK) & IB_CAP(IB_CAP_IS_SM)))
		tell_news(sm, NEWS_MANAGER_MET, .port = &n->ports[0]);
	for (unsigned i = first; i <= n->n_ports; i++)
		ask_port_info(sm, &n->ports[i]);
}

/* ---- SwitchInfo ---------------------------------------------------------------------------- */

static void on_cleared(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;
	struct node *n = r->arg;

	discover_answered(sm);
	if (r->end == MAD_END_ANSWERED)
		observe_change_cleared(n, r->payload, false);
	if (r->end != MAD_END_CANCELLED)
		ask_port_info(sm, &n->ports[0]);
}

/* Clears PortStateChange before the ports are read, so that a later change is seen. */
static bool clear_state_change(struct sm *sm, struct node *n)
{
	uint8_t want[SMP_DATA_SIZE] = { 0 };
	const struct mad_request rq = { .attr = IB_ATTR_SWITCH_INFO,
					.path = &n->path,
					.payload = want };

	if (!ib_get(n->switch_info, SI_PORT_STATE_CHANGE))
		return false;
	memcpy(want, n->switch_info, SI_BYTES);
	if (!sync_command(sm->sync, &n->ports[0], &rq, on_cleared, sm, n))
		return false;
	sm->m.discover->pending++;
	return true;
}

static void on_verified(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;
	struct node *n = r->arg;
	struct delta d = { .node = n, .kinds = DELTA(DELTA_TABLE) };

	discover_answered(sm);
	if (r->end == MAD_END_ANSWERED && !observe_lft_block(n, r->mod, r->payload))
		return;
	observe_tables_lost(n);
	tell_delta(sm, &d);
}

static void verify_block(struct sm *sm, struct node *n, uint32_t block)
{
	if (!lft_have_block(&n->lft, block))
		return;
	sm->m.discover->pending++;
	discover_get(sm, n, IB_ATTR_LFT, block, on_verified);
}

/* Does the block show whether a table was lost: was it written long ago, with some entries? */
static bool is_telling(const struct lft_have *lft, uint32_t block)
{
	const uint8_t *have = lft_have_block(lft, block);

	for (unsigned i = 0; have && lft->known[block] == LFT_PROVEN && i < LFT_BLOCK_LIDS; i++) {
		if (have[i] != LFT_NO_PORT)
			return true;
	}
	return false;
}

/*
 * Reads a block of a switch whose ports changed, as it may have lost power: then its whole table is
 * lost. Blocks that were being written at the time may be lost in part, and are all read.
 */
static void verify_tables(struct sm *sm, struct node *n)
{
	bool told = false;

	if (!ib_get(n->switch_info, SI_PORT_STATE_CHANGE))
		return;
	for (uint32_t block = 0; block < n->lft.n_blocks; block++) {
		bool tells = !told && is_telling(&n->lft, block);

		told |= tells;
		if (tells || n->lft.known[block] == LFT_UNPROVEN)
			verify_block(sm, n, block);
	}
}

static void on_switch_info(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;
	struct node *n = r->arg;
	struct delta d;
	bool back;

	discover_answered(sm);
	if (discover_worth_asking_again(sm, &n->ports[0], r)) {
		ask_switch_info(sm, n);
		return;
	}
	if (r->end != MAD_END_ANSWERED) {
		if (r->end != MAD_END_CANCELLED)
			discover_note_fault(sm, "Get", &n->ports[0], r);
		if (r->end == MAD_END_TIMEOUT && sm->m.discover->partial) {
			want_sweep(sm, SWEEP_HEAVY, "a switch that changed does not answer");
			tell_news(sm, NEWS_LOST, .node = n);
		}
		return;
	}
	if (sm->m.discover->ask.is_unchanged(sm, n, r->payload))
		return;
	back = n->misses || n->ports[0].seen != sm->sweep_no;
	n->seen = sm->sweep_no;
	if (n->misses)
		observe_shown(n);
	n->misses = 0;
	d = observe_switch_info(n, r->payload);
	if (back)
		/* effects that were due for it are still due */
		d.kinds |= DELTA(DELTA_BACK);
	tell_delta(sm, &d);
	verify_tables(sm, n);
	if (!clear_state_change(sm, n))
		ask_port_info(sm, &n->ports[0]);
}

static void ask_switch_info(struct sm *sm, struct node *n)
{
	sm->m.discover->pending++;
	discover_get(sm, n, IB_ATTR_SWITCH_INFO, 0, on_switch_info);
}

void discover_read_switch(struct sm *sm, struct node *n)
{
	ask_switch_info(sm, n);
}

void discover_read_port(struct sm *sm, struct port *p)
{
	ask_port_info(sm, p);
}

/* ---- start --------------------------------------------------------------------------------- */

static void ask_own_node_info(struct sm *sm);

static uint64_t own_mkey(const struct sm *sm)
{
	if (sm->fabric->own_port)
		return sm->fabric->own_port->m_key;
	return keys_expected(sm, sm->tr->port_guid, sm->m.discover->own_key);
}

static void on_own_node_info(void *owner, const struct mad_result *r)
{
	static const struct dr_path here = { 0 };
	struct sm *sm = owner;
	struct delta d = { 0 };

	discover_answered(sm);
	if (r->end == MAD_END_TIMEOUT && sm->m.discover->own_tries++ < SILENT_AFTER) {
		if (sm->fabric->own_port)
			keys_doubt(sm, sm->fabric->own_port, r->m_key);
		else
			sm->m.discover->own_key++;
		ask_own_node_info(sm);
		return;
	}
	if (r->end == MAD_END_ANSWERED)
		d = node_of(sm, NULL, r->payload);
	if (!d.node) {
		tell_news(sm, NEWS_OWN_SILENT, .text = "NodeInfo");
		return;
	}
	observe_own(sm->fabric, &d, r->payload, own_mkey(sm));
	meet(sm, sm->fabric->own_port, &here);
}

static void ask_own_node_info(struct sm *sm)
{
	static const struct dr_path here = { 0 };
	const struct mad_request rq = {
		.method = MAD_GET,
		.attr = IB_ATTR_NODE_INFO,
		.path = &here,
		.m_key = own_mkey(sm),
	};

	ask(sm, &rq, on_own_node_info, NULL);
}

void discover_start(struct sm *sm)
{
	discover_stamp(sm, false);
	sm->m.discover->own_tries = sm->m.discover->near_tries = 0;
	sm->m.discover->keys_mixed = false;
	tell_news(sm, NEWS_READING_ALL);
	FABRIC_EACH_NODE(sm->fabric, n) {
		for (unsigned i = 0; i <= n->n_ports; i++) {
			discover_port_begins(&n->ports[i]);
			observe_quarantine(&n->ports[i], false);
		}
	}
	ask_own_node_info(sm);
}
