// SPDX-License-Identifier: BSD-2-Clause
/*
 * Traps (traps.md 2, 3): answered, told from repetitions and storms, forwarded, acted upon.
 *
 *   repress -> who was it? -> heard lately (trap_flow.c)? -> is it about itself? -> forward -> react
 *
 * A notice is a claim. It is believed as far as it speaks of its own sender, and what follows from it
 * is to look at that sender: nothing in it is taken over. What it costs is a few Gets, at a pace that
 * trap_flow.c sets for each source.
 *
 * Not here: what a look finds (dirty.c, elect.c), links that complain (health.c), words (trap_words.c).
 */
#include "sm/traps.h"

#include <inttypes.h>
#include <string.h>

#include "sm/events.h"
#include "sm/say.h"
#include "sm/trap_flow.h"
#include "util/mem.h"

/* Between two light sweeps that strangers, and traps about keys, ask for. */
#define STRANGER_LIGHT (10 * MONO_S)
#define STRANGER_HEAVY (10 * MONO_S)
#define KEYS_LIGHT     (60 * MONO_S)

struct traps {
	struct trap_flow *flow;
	struct sm_trap_stats stats;
	struct log_limit heard_log, storm_log, forged_log, key_log, error_log;
	mono_t stranger_light, stranger_heavy, keys_light; /* none before */
};

/* One notice on its way through this file. */
struct trap {
	struct port *port; /* end port that sent it; NULL: a stranger */
	unsigned number;
	enum sm_trap_kind kind;
	const uint8_t *notice;
};

void traps_new(struct sm *sm)
{
	sm->traps = xcalloc(1, sizeof(*sm->traps));
	sm->traps->flow = trap_flow_new();
	sm->traps->heard_log = (struct log_limit){ .interval = MONO_S, .burst = 10 };
	sm->traps->storm_log = (struct log_limit){ .interval = 2 * MONO_S, .burst = 10 };
	sm->traps->forged_log = (struct log_limit){ .interval = 10 * MONO_S, .burst = 5 };
	sm->traps->key_log = (struct log_limit){ .interval = 2 * MONO_S, .burst = 5 };
	sm->traps->error_log = (struct log_limit){ .interval = 2 * MONO_S, .burst = 5 };
}

void traps_free(struct sm *sm)
{
	if (!sm->traps)
		return;
	trap_flow_free(sm->traps->flow);
	free(sm->traps);
	sm->traps = NULL;
}

const char *sm_trap_kind_name(enum sm_trap_kind kind)
{
	static const char *const names[SM_TRAP_KINDS] = {
		[SM_TRAP_SM] = "manager",  [SM_TRAP_LINK] = "link",   [SM_TRAP_ERRORS] = "errors",
		[SM_TRAP_LOCAL] = "local", [SM_TRAP_IMAGE] = "image", [SM_TRAP_KEYS] = "keys",
		[SM_TRAP_OTHER] = "other", [SM_TRAP_VENDOR] = "vendor",
	};

	return names[kind];
}

const struct sm_trap_stats *sm_trap_stats(const struct sm *sm)
{
	struct sm_trap_stats *st = &sm->traps->stats;

	st->sources = trap_flow_sources(sm->traps->flow);
	st->storms = trap_flow_storms(sm->traps->flow);
	return st;
}

/* ---- who was it? --------------------------------------------------------------------------- */

static bool is_directed(const uint8_t *mad)
{
	return ib_get(mad, SMP_CLASS) == MAD_CLASS_SMI_DR;
}

/*
 * The end port a trap came from, NULL for a stranger. False: from nowhere that can be answered. LID 0
 * is our own SMA (traps.md 2).
 */
static bool find_sender(const struct sm *sm, const struct transport_addr *from, const uint8_t *mad,
			struct port **ret)
{
	struct port *own = sm->fabric->own_port;

	*ret = NULL;
	if (!own || !own->lid)
		return false;
	if (is_directed(mad) && !lid_is_unicast(from->lid))
		*ret = trap_walk_back(own, mad + SMP_RETURN_PATH + 1,
				      (unsigned)ib_get(mad, SMP_HOP_COUNT));
	else if (from->lid == 0)
		*ret = own;
	else if (lid_is_unicast(from->lid))
		*ret = prepare_port_at(sm, from->lid);
	else
		return false;
	return true;
}

/* A directed route is gone back the way it came: TrapRepress is a request, with a path of its own. */
static void turn_round(uint8_t *mad)
{
	unsigned hops = (unsigned)ib_get(mad, SMP_HOP_COUNT) & IB_MAX_HOPS;
	unsigned slid = (unsigned)ib_get(mad, SMP_DR_SLID);
	uint8_t back[64] = { 0 };

	for (unsigned i = 1; i <= hops; i++)
		back[i] = mad[SMP_RETURN_PATH + hops + 1 - i];
	memcpy(mad + SMP_INITIAL_PATH, back, sizeof(back));
	memset(mad + SMP_RETURN_PATH, 0, sizeof(back));
	ib_put(mad, SMP_HOP_COUNT, hops);
	ib_put(mad, SMP_HOP_POINTER, 0);
	ib_put(mad, SMP_DR_SLID, ib_get(mad, SMP_DR_DLID));
	ib_put(mad, SMP_DR_DLID, slid);
}

/*
 * 13.4.9: at once, with the same notice, or the source repeats it. The key is that of the port the
 * answer goes to; nobody else is told one.
 */
static void repress(struct sm *sm, const struct transport_addr *from, const uint8_t *mad,
		    struct port *sender)
{
	struct transport_addr to = *from;
	uint8_t answer[MAD_SIZE];

	memcpy(answer, mad, sizeof(answer));
	ib_put(answer, SMP_METHOD, MAD_TRAP_REPRESS);
	ib_put(answer, SMP_DIRECTION, 0);
	ib_put(answer, SMP_STATUS, 0);
	ib_put(answer, SMP_M_KEY, sender ? port_of_sma(sender)->m_key : 0);
	if (is_directed(mad))
		turn_round(answer);
	else if (!to.lid)
		to.lid = sm->fabric->own_port->lid;
	if (mad_send_once(sm->mad, &to, answer) == 0)
		sm->traps->stats.repressed++;
}

static enum sm_trap_kind kind_of(const uint8_t *notice)
{
	if (!ib_get(notice, NT_IS_GENERIC))
		return SM_TRAP_VENDOR;
	switch (ib_get(notice, NT_TRAP)) {
	case TRAP_GID_IN_SERVICE ... TRAP_MGID_DESTROYED:
		return SM_TRAP_SM;
	case TRAP_LINK_STATE:
		return SM_TRAP_LINK;
	case TRAP_LINK_INTEGRITY ... TRAP_FLOW_CONTROL:
		return SM_TRAP_ERRORS;
	case TRAP_LOCAL_CHANGE:
		return SM_TRAP_LOCAL;
	case TRAP_SYSIMG_GUID:
		return SM_TRAP_IMAGE;
	case TRAP_BAD_MKEY ... TRAP_SWITCH_BAD_PKEY:
		return SM_TRAP_KEYS;
	default:
		return SM_TRAP_OTHER;
	}
}

/* ---- is it about itself? ------------------------------------------------------------------- */

/* The port named by 129 to 131; NULL if the sender has none of this number. */
static struct port *complaining_port(const struct trap *t)
{
	unsigned num = (unsigned)ib_get(t->notice, N129_PORT);

	if (!node_is_switch(t->port->node))
		return num == t->port->num ? t->port : NULL;
	return num <= t->port->node->n_ports ? &t->port->node->ports[num] : NULL;
}

/* LID 0 names nobody: the notice was written before its sender had one. */
static bool is_its_lid(const struct sm *sm, const struct trap *t, lid_t lid)
{
	return lid == 0 || prepare_port_at(sm, lid) == t->port;
}

static bool names_itself(const struct sm *sm, const struct trap *t)
{
	if (!is_its_lid(sm, t, (lid_t)ib_get(t->notice, NT_ISSUER_LID)))
		return false;
	switch (t->kind) {
	case SM_TRAP_LINK:
		return node_is_switch(t->port->node) &&
		       is_its_lid(sm, t, (lid_t)ib_get(t->notice, N128_LID));
	case SM_TRAP_ERRORS:
		return is_its_lid(sm, t, (lid_t)ib_get(t->notice, N129_LID)) && complaining_port(t);
	case SM_TRAP_LOCAL:
	case SM_TRAP_IMAGE:
		return is_its_lid(sm, t, (lid_t)ib_get(t->notice, N144_LID));
	case SM_TRAP_KEYS:
		return t->number != TRAP_SWITCH_BAD_PKEY || node_is_switch(t->port->node);
	case SM_TRAP_SM:
	case SM_TRAP_OTHER:
	case SM_TRAP_VENDOR:
	case SM_TRAP_KINDS:
		break;
	}
	return true;
}

static void tell_forged(struct sm *sm, const struct trap *t)
{
	unsigned more;

	sm->traps->stats.forged++;
	if (log_allow(&sm->traps->forged_log, sm->now, &more))
		log_port(t->port, LOG_ID_TRAP_FORGED, LOGB_ERROR,
			 "its trap %u (%s) is about somebody else, or about what it does not have, "
			 "and is ignored (and %u others)",
			 t->number, ib_trap_name(t->number), more);
}

/* ---- reactions ----------------------------------------------------------------------------- */

/* A light sweep, if the last one of this kind is `every` ago. */
static void want_light(struct sm *sm, mono_t *not_before, mono_t every, const char *why)
{
	if (!sm->conf->sweep_on_trap || sm->now < *not_before)
		return;
	*not_before = sm->now + every;
	sweep_want(sm, SWEEP_LIGHT, why);
}

static void on_link(struct sm *sm, const struct trap *t)
{
	if (sm->conf->sweep_on_trap)
		dirty_switch(sm, t->port->node, "trap 128: a link changed");
}

static bool says_is_sm(const struct port *p, uint32_t caps)
{
	return (caps | fabric_cap_mask(p)) & IB_CAP(IB_CAP_IS_SM);
}

/* Two subnets have met, and its LID is another's in ours. */
static void want_heavy(struct sm *sm, const char *why)
{
	if (sm->now < sm->traps->stranger_heavy || !sm->conf->sweep_on_trap)
		return;
	sm->traps->stranger_heavy = sm->now + STRANGER_HEAVY;
	sweep_want(sm, SWEEP_HEAVY, why);
}

/*
 * Trap 144: a description that changed is read, and nothing else; so are the priority and the coming
 * of a subnet manager. Enabled width and speed are what we write ourselves while a sweep runs.
 */
static void on_local(struct sm *sm, const struct trap *t)
{
	struct port *p = t->port;
	unsigned flags = (unsigned)ib_get(t->notice, N144_CHANGES), rest = flags;
	uint32_t caps = (uint32_t)ib_get(t->notice, N144_CAP_MASK);
	bool same_caps = p->known && caps == ib_get(p->info, PI_CAP_MASK);

	if (flags & N144_NODE_DESC)
		discover_desc_changed(sm, p);
	if ((flags & N144_SM_PRIORITY) || says_is_sm(p, caps))
		elect_look_at(sm, p);
	if ((flags & N144_SM_PRIORITY) && !says_is_sm(p, 0))
		want_heavy(sm, "a subnet manager tells of itself from where we know of none");
	rest &= ~(N144_NODE_DESC | N144_SM_PRIORITY);
	if (sm->sweep != SWEEP_NONE)
		rest &= ~(N144_WIDTH_ENABLED | N144_SPEED_ENABLED);
	if ((flags && !rest && same_caps) || !sm->conf->sweep_on_trap)
		return;
	dirty_port(sm, p, "trap 144: a port changed");
}

static void on_image_read(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;
	struct node *n = r->arg;
	guid_t now;

	n->image_asked = false;
	if (r->end != MAD_END_ANSWERED || ib_get(r->payload, NI_NODE_GUID) != n->guid)
		return;
	now = ib_get(r->payload, NI_SYSTEM_IMAGE_GUID);
	if (now == n->sysimg_guid)
		return;
	log_node(n, LOG_ID_NONE, LOGB_INFO,
		 "its SystemImageGUID is 0x%016" PRIx64 " now (was 0x%016" PRIx64 ")", now,
		 n->sysimg_guid);
	n->sysimg_guid = now;
	admin_publish_soon(sm);
}

/* Trap 145: what it says is asked from the node itself. */
static void on_image(struct sm *sm, struct port *p)
{
	struct dr_path path;
	const struct mad_request rq = {
		.method = MAD_GET,
		.attr = IB_ATTR_NODE_INFO,
		.path = &path,
		.m_key = port_of_sma(p)->m_key,
		.target = &p->node->target,
	};

	if (p->node->image_asked || fabric_port_path(sm->fabric, p, &path) < 0)
		return;
	p->node->image_asked = true;
	mad_submit(sm->mad, &rq, on_image_read, sm, p->node);
}

static void on_errors(struct sm *sm, const struct trap *t)
{
	unsigned more;

	if (log_allow(&sm->traps->error_log, sm->now, &more))
		log_port(complaining_port(t), LOG_ID_TRAP_ERRORS, LOGB_ERROR,
			 "%s (trap %u; %u others were not said)", ib_trap_name(t->number), t->number,
			 more);
	if (!sm->conf->sweep_on_trap)
		return;
	if (node_is_switch(t->port->node))
		dirty_switch(sm, t->port->node, "a trap about link errors");
	else
		dirty_port(sm, t->port, "a trap about link errors");
}

static void on_keys(struct sm *sm, const struct trap *t)
{
	char words[TRAP_KEY_STRLEN];
	unsigned more;

	if (log_allow(&sm->traps->key_log, sm->now, &more))
		log_on(about_port(LOG_ID_TRAP_KEY, t->port), LOGB_ERROR,
		       "%s (trap %u; %u others were not said)",
		       trap_key_words(sm, t->port, t->notice, words), t->number, more);
	want_light(sm, &sm->traps->keys_light, KEYS_LIGHT, "a trap about keys");
}

static void react(struct sm *sm, const struct trap *t)
{
	switch (t->kind) {
	case SM_TRAP_SM: /* only subnet managers know of these */
		elect_look_at(sm, t->port);
		break;
	case SM_TRAP_LINK:
		on_link(sm, t);
		break;
	case SM_TRAP_ERRORS:
		on_errors(sm, t);
		break;
	case SM_TRAP_LOCAL:
		on_local(sm, t);
		break;
	case SM_TRAP_IMAGE:
		on_image(sm, t->port);
		break;
	case SM_TRAP_KEYS:
		on_keys(sm, t);
		break;
	case SM_TRAP_OTHER:
	case SM_TRAP_VENDOR:
	case SM_TRAP_KINDS:
		break;
	}
}

static const char *name_of(const struct trap *t)
{
	return t->kind == SM_TRAP_VENDOR ? "of its vendor" : ib_trap_name(t->number);
}

static void tell_heard(struct sm *sm, const struct trap *t)
{
	unsigned more;

	if (log_wants(LOGB_VERBOSE) && log_allow(&sm->traps->heard_log, sm->now, &more))
		log_port(t->port, LOG_ID_NONE, LOGB_VERBOSE, "trap %u (%s), %u others were not said",
			 t->number, name_of(t), more);
}

static void take_trap(struct sm *sm, const struct trap *t)
{
	const struct transport_addr sender = { .lid = t->port ? t->port->lid : 0 };

	tell_heard(sm, t);
	if (!t->port) {
		want_light(sm, &sm->traps->stranger_light, STRANGER_LIGHT,
			   "a trap from an unknown port");
		return;
	}
	if (!names_itself(sm, t)) {
		tell_forged(sm, t);
		return;
	}
	sm->traps->stats.taken++;
	event_trap(sm, t->port, t->notice, name_of(t));
	sa_forward_trap(sm->sa, &sender, t->notice, sm->now);
	react(sm, t);
}

/* ---- arrivals ------------------------------------------------------------------------------ */

static enum trap_from from_of(const struct port *p)
{
	if (!p)
		return TRAP_FROM_STRANGER;
	return node_is_switch(p->node) ? TRAP_FROM_SWITCH : TRAP_FROM_HOST;
}

static enum trap_verdict hear(struct sm *sm, const struct trap *t, uint64_t tid)
{
	const struct trap_arrival a = {
		.from = from_of(t->port),
		.lid = t->port ? t->port->lid : 0,
		.guid = t->port ? t->port->guid : 0,
		.kind = t->kind,
		.tid = tid,
		.notice = t->notice,
	};

	return trap_flow_arrived(sm->traps->flow, &a, sm->now);
}

void traps_receive(struct sm *sm, const struct transport_addr *from, const uint8_t *mad)
{
	struct sm_trap_stats *st = &sm->traps->stats;
	struct trap t = { .notice = smp_data(mad),
			  .number = (unsigned)ib_get(smp_data(mad), NT_TRAP),
			  .kind = kind_of(smp_data(mad)) };
	enum trap_verdict verdict;

	if (sm->state != SM_MASTER || !find_sender(sm, from, mad, &t.port))
		return;
	repress(sm, from, mad, t.port);
	st->received[t.kind]++;
	st->strangers += !t.port;
	verdict = hear(sm, &t, ib_get(mad, SMP_TID));
	/* A port that complains without end is counted, however often it is listened to. */
	if (t.kind == SM_TRAP_ERRORS && verdict != TRAP_REPEAT && t.port && names_itself(sm, &t))
		health_complaint(sm, complaining_port(&t), t.number);
	switch (verdict) {
	case TRAP_TAKE:
		take_trap(sm, &t);
		break;
	case TRAP_REPEAT:
		st->repeats++;
		break;
	case TRAP_SUPPRESS:
		st->suppressed++;
		break;
	}
}

/* ---- what was suppressed ------------------------------------------------------------------- */

static struct port *port_of_due(const struct sm *sm, const struct trap_due *due)
{
	struct port *p = prepare_port_at(sm, due->lid);

	return p && p->guid == due->guid ? p : NULL;
}

static void tell_storm(struct sm *sm, const struct trap_due *due)
{
	const struct port *from = port_of_due(sm, due);
	unsigned more;

	if (!log_allow(&sm->traps->storm_log, sm->now, &more))
		return;
	if (due->what == TRAP_DUE_STORM)
		log_port(from, LOG_ID_TRAP_STORM, LOGB_ERROR,
			 "sends more traps than are listened to, the last is %u (%s); it is looked "
			 "at now and then (%u others were not said)",
			 (unsigned)ib_get(due->notice, NT_TRAP),
			 ib_trap_name((unsigned)ib_get(due->notice, NT_TRAP)), more);
	else
		log_port(from, LOG_ID_TRAP_STORM, LOGB_INFO,
			 "its storm of traps is over after %" PRId64 " s: %" PRIu64
			 " were left out (%u others were not said)",
			 due->lasted / MONO_S, due->suppressed, more);
}

/* The last notice as if it had come now; of the others, only what kind they were is known. */
static void look(struct sm *sm, const struct trap_due *due)
{
	struct trap t = { .port = port_of_due(sm, due),
			  .notice = due->notice,
			  .number = (unsigned)ib_get(due->notice, NT_TRAP),
			  .kind = kind_of(due->notice) };
	uint32_t others = due->kinds & ~(1u << t.kind);

	if (due->lid && !t.port)
		return; /* it has gone meanwhile */
	take_trap(sm, &t);
	if (!t.port)
		return;
	if ((others & 1u << SM_TRAP_LINK) && node_is_switch(t.port->node))
		on_link(sm, &t);
	if (others & 1u << SM_TRAP_LOCAL) {
		discover_desc_changed(sm, t.port);
		if (says_is_sm(t.port, 0))
			elect_look_at(sm, t.port);
		if (sm->conf->sweep_on_trap)
			dirty_port(sm, t.port, "trap 144: a port changed");
	}
	if (others & 1u << SM_TRAP_IMAGE)
		on_image(sm, t.port);
}

void traps_tick(struct sm *sm)
{
	struct trap_due due;

	while (trap_flow_due(sm->traps->flow, sm->now, &due)) {
		if (sm->state != SM_MASTER)
			continue;
		if (due.what == TRAP_DUE_LOOK)
			look(sm, &due);
		else
			tell_storm(sm, &due);
	}
}

mono_t traps_next(const struct sm *sm)
{
	return trap_flow_next(sm->traps->flow);
}
