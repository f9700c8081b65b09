// SPDX-License-Identifier: BSD-2-Clause
/*
 * Traps (traps.md 2, 3): answered, told from repetitions and storms, forwarded, acted upon.
 *
 *   from which port? -> heard lately (trap_flow.c)? -> repress -> is it about itself? -> forward ->
 *   react
 *
 * A notice is a claim. It is believed as far as it speaks of its own sender, and what follows from
 * it is to look at that sender: nothing in it is taken over. What it costs is a few Gets, at a pace
 * that trap_flow.c sets for each source.
 *
 * Not here: what a look finds (incremental.c, elect.c), links that complain (complaints.c), texts
 * (trap_text.c), what ports are accused of (violations.c).
 */
#include "sm/trust/trap_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sm/base/events.h"
#include "sm/base/about.h"
#include "sm/base/keys.h"
#include "sm/trust/lockout.h"
#include "sm/trust/senders.h"
#include "sm/trust/trap_flow.h"
#include "sm/trust/violations.h"
#include "sm/base/news.h"
#include "util/mem.h"

/* Least times between light sweeps for traps of unknown ports, and for traps about keys. */
#define STRANGER_LIGHT (10 * MONO_S)
#define KEYS_LIGHT     (60 * MONO_S)
/*
 * Most heavy sweeps that traps cause: HEAVY_TIMES at once, then one per HEAVY_IN. Any host can send
 * them.
 */
#define HEAVY_TIMES    3
#define HEAVY_IN       (600 * MONO_S)
/*
 * Time within which a port that refuses our key is logged once, and most accusations of a host that
 * are logged.
 */
#define TOLD_FOR       (3600 * MONO_S)
#define ACCUSED_TOLD   8u
/* Least time between two Gets that stop the lease of a port. */
#define TOUCH_EVERY    (1 * MONO_S)
#define TOUCHES_MOST   4u /* most such Gets under way: others wait for the same window */

struct traps {
	struct trap_flow *flow;
	struct sm_trap_stats stats;
	struct log_limit heard_log, storm_log, key_log, error_log, accuser_log, heavy_limit;
	mono_t stranger_light, keys_light; /* earliest times of the next such sweeps */
	/* hosts, with the number of ports that they accused, each counted once */
	struct senders accusers;
	struct senders refusers;	   /* ports that refused a key of ours */
	struct senders touched;		   /* ports that were asked because of their lease */
	unsigned n_touches;		   /* number of such questions under way */
};
MACHINE_MEMORY(traps);

/* A notice that is being handled. */
struct trap {
	struct port *port; /* end port that sent it; NULL: unknown */
	unsigned number;
	enum sm_trap_kind kind;
	const uint8_t *notice;
};

void traps_new(struct sm *sm, const struct sm_paths *paths)
{
	struct traps *t = sm->m.traps;

	t->flow = trap_flow_new();
	t->heard_log = (struct log_limit){ .interval = MONO_S, .burst = 10 };
	t->storm_log = (struct log_limit){ .interval = 2 * MONO_S, .burst = 10 };
	t->key_log = (struct log_limit){ .interval = 2 * MONO_S, .burst = 5 };
	t->error_log = (struct log_limit){ .interval = 2 * MONO_S, .burst = 5 };
	t->accuser_log = (struct log_limit){ .interval = 10 * MONO_S, .burst = 3 };
	t->heavy_limit = (struct log_limit){ .interval = HEAVY_IN, .burst = HEAVY_TIMES };
	t->accusers.window = t->refusers.window = TOLD_FOR;
	t->touched.window = TOUCH_EVERY;
}

void traps_free(struct sm *sm)
{
	trap_flow_free(sm->m.traps->flow);
}

const char *sm_trap_kind_name(enum sm_trap_kind kind)
{
	static const char *const names[SM_TRAP_KINDS] = {
		[SM_TRAP_SM] = "manager",  [SM_TRAP_LINK] = "link",	[SM_TRAP_ERRORS] = "errors",
		[SM_TRAP_LOCAL] = "local", [SM_TRAP_IMAGE] = "image",	[SM_TRAP_KEYS] = "keys",
		[SM_TRAP_OTHER] = "other", [SM_TRAP_VENDOR] = "vendor",
	};

	return names[kind];
}

const struct sm_trap_stats *sm_trap_stats(const struct sm *sm)
{
	struct sm_trap_stats *st = &sm->m.traps->stats;

	st->sources = trap_flow_sources(sm->m.traps->flow);
	st->storms = trap_flow_storms(sm->m.traps->flow);
	return st;
}

/* ---- the sender ----------------------------------------------------------------------------- */

static bool is_directed(const uint8_t *mad)
{
	return ib_get(mad, SMP_CLASS) == MAD_CLASS_SMI_DR;
}

/*
 * The answer to a directed trap goes back its route: from here, or from the switch that sent it on
 * by LID and stands in its SLID. Its sender is the port where that way ends. A host may write any
 * SLID and any route before its first switch, but not what follows: the answer, with the key of the
 * port that was found, goes to that port. Not if it was to go on by LID from there (DrSLID).
 */
static bool find_directed(const struct sm *sm, const struct transport_addr *from,
			  const uint8_t *mad, struct port **ret)
{
	bool by_lid = lid_is_unicast(from->lid);
	struct port *at = by_lid ? lids_port_at(sm, from->lid) : sm->fabric->own_port;
	unsigned hops = (unsigned)ib_get(mad, SMP_HOP_COUNT);

	if (ib_get(mad, SMP_DR_SLID) != LID_PERMISSIVE || hops > IB_MAX_HOPS)
		return false;
	if (at && by_lid && hops && !node_is_switch(at->node))
		at = NULL; /* adapters forward nothing */
	*ret = at ? trap_walk_back(at, mad + SMP_RETURN_PATH + 1, hops) : NULL;
	return true;
}

/*
 * Finds the end port that sent a trap; NULL: unknown. False: the address cannot be answered. LID 0
 * is our own SMA (traps.md 2).
 */
static bool find_sender(const struct sm *sm, const struct transport_addr *from, const uint8_t *mad,
			struct port **ret)
{
	struct port *own = sm->fabric->own_port;

	*ret = NULL;
	if (!own || !own->lid)
		return false;
	if (is_directed(mad))
		return find_directed(sm, from, mad, ret);
	if (from->lid == 0)
		*ret = own;
	else if (lid_is_unicast(from->lid))
		*ret = lids_port_at(sm, from->lid);
	else
		return false;
	return true;
}

/* Reverses the directed route: TrapRepress is a request, with a path of its own. */
static void reverse_dr_path(uint8_t *mad)
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
 * answer goes to; no other port is told one.
 */
static void send_repress(struct sm *sm, const struct transport_addr *from, const uint8_t *mad,
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
		reverse_dr_path(answer);
	else if (!to.lid)
		to.lid = sm->fabric->own_port->lid;
	if (mad_send_once(sm->mad, &to, answer) == 0)
		sm->m.traps->stats.repressed++;
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

/* The port named by traps 129 to 131; NULL: the sender has none of this number. */
static struct port *complaining_port(const struct trap *t)
{
	unsigned num = (unsigned)ib_get(t->notice, N129_PORT);

	if (!node_is_switch(t->port->node))
		return num == t->port->num ? t->port : NULL;
	return num <= t->port->node->n_ports ? &t->port->node->ports[num] : NULL;
}

/*
 * Is the LID one of the sender? LID 0 names no port: the notice was written before its sender had
 * one.
 */
static bool is_its_lid(const struct sm *sm, const struct trap *t, lid_t lid)
{
	return lid == 0 || lids_port_at(sm, lid) == t->port;
}

/* Traps 256 to 259: did the packet reach the sender of the trap, or a group that it is in? */
static bool stopped_it_itself(const struct sm *sm, const struct trap *t)
{
	lid_t to = (lid_t)ib_get(t->notice, N257_LID2);

	switch (t->number) {
	case TRAP_BAD_PKEY:
	case TRAP_BAD_QKEY:
		return to > LID_MAX_UCAST || is_its_lid(sm, t, to);
	case TRAP_SWITCH_BAD_PKEY:
		return node_is_switch(t->port->node) &&
		       is_its_lid(sm, t, (lid_t)ib_get(t->notice, N259_SWITCH_LID)) &&
		       ib_get(t->notice, N259_PORT) <= t->port->node->n_ports;
	default:
		return true;
	}
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
		return stopped_it_itself(sm, t);
	case SM_TRAP_SM:
	case SM_TRAP_OTHER:
	case SM_TRAP_VENDOR:
	case SM_TRAP_KINDS:
		break;
	}
	return true;
}

void traps_tell_offence(struct sm *sm, const struct port *p, enum log_id id,
			enum violation_kind kind, const char *text)
{
	struct log_about about = about_port(id, p);

	about.hint = violation_kind_name(kind);
	log_on(about, LOGB_ERROR, "%s", text);
	event_security(sm, violation_kind_name(kind), p->guid, p->lid, text);
}

/* Logs a forged trap once per port; further ones are counted. */
static void tell_forged(struct sm *sm, const struct trap *t)
{
	char text[PLACE_STRLEN + 200], where[PLACE_STRLEN];

	sm->m.traps->stats.forged++;
	if (!violation_count(sm, VIOLATION_TRAP, t->port) ||
	    !violation_may_tell(sm, VIOLATION_TRAP, t->port))
		return;
	snprintf(text, sizeof(text),
		 "%s: its trap %u (%s) is about another port, or about one that it does not have, "
		 "and is ignored, as all like it are",
		 fabric_place_str(t->port, where), t->number, ib_trap_name(t->number));
	traps_tell_offence(sm, t->port, LOG_ID_TRAP_FORGED, VIOLATION_TRAP, text);
}

/* ---- reactions ----------------------------------------------------------------------------- */

/* Asks for a light sweep, if the last one of this kind was `every` ago. */
static void want_light(struct sm *sm, mono_t *not_before, mono_t every, const char *why)
{
	if (!sm->conf->sweep_on_trap || sm->now < *not_before)
		return;
	*not_before = sm->now + every;
	want_sweep(sm, SWEEP_LIGHT, why);
}

static void on_link(struct sm *sm, const struct trap *t)
{
	if (sm->conf->sweep_on_trap)
		tell_switch(sm, t->port->node, "trap 128: a link changed");
}

static bool says_is_sm(const struct port *p, uint32_t caps)
{
	return (caps | fabric_cap_mask(p)) & IB_CAP(IB_CAP_IS_SM);
}

/* Asks for a heavy sweep: two subnets have met, and the LID of the port is another's in ours. */
static void want_heavy(struct sm *sm, const char *why)
{
	if (sm->conf->sweep_on_trap &&
	    log_allow(&sm->m.traps->heavy_limit, sm->now, &(unsigned){ 0 }))
		want_sweep(sm, SWEEP_HEAVY, why);
}

/*
 * Trap 144: a changed description, a priority or a new subnet manager is read, and nothing else.
 * Changes of enabled width and speed are caused by a running sweep itself.
 */
static void on_local(struct sm *sm, const struct trap *t)
{
	struct port *p = t->port;
	unsigned flags = (unsigned)ib_get(t->notice, N144_CHANGES), rest = flags;
	uint32_t caps = (uint32_t)ib_get(t->notice, N144_CAP_MASK);
	bool same_caps = p->known && caps == ib_get(p->info, PI_CAP_MASK);

	if (flags & N144_NODE_DESC)
		tell_news(sm, NEWS_DESCRIPTION, .port = p);
	if ((flags & N144_SM_PRIORITY) || says_is_sm(p, caps))
		tell_news(sm, NEWS_MANAGER_HEARD, .port = p);
	if ((flags & N144_SM_PRIORITY) && !says_is_sm(p, 0))
		want_heavy(sm, "a subnet manager tells of itself from where we know of none");
	rest &= ~(N144_NODE_DESC | N144_SM_PRIORITY);
	if (sm->sweep != SWEEP_NONE)
		rest &= ~(N144_WIDTH_ENABLED | N144_SPEED_ENABLED);
	if ((flags && !rest && same_caps) || !sm->conf->sweep_on_trap)
		return;
	tell_port(sm, p, "trap 144: a port changed");
}

static void on_image_read(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;
	struct node *n = r->arg;
	guid_t before = n->sysimg_guid;
	struct delta d;

	n->image_asked = false;
	if (r->end != MAD_END_ANSWERED)
		return;
	d = observe_image(n, r->payload);
	if (d.kinds)
		log_node(n, LOG_ID_NONE, LOGB_INFO,
			 "its SystemImageGUID is 0x%016" PRIx64 " now (was 0x%016" PRIx64 ")",
			 n->sysimg_guid, before);
	tell_delta(sm, &d);
}

/* Trap 145: asks the node itself for its SystemImageGUID. */
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
	char others[LOG_OTHERS_STRLEN];
	unsigned more;

	if (log_allow(&sm->m.traps->error_log, sm->now, &more))
		log_port(complaining_port(t), LOG_ID_TRAP_ERRORS, LOGB_ERROR,
			 "%s (trap %u%s)", ib_trap_name(t->number), t->number,
			 log_others(more, others));
	if (!sm->conf->sweep_on_trap)
		return;
	if (node_is_switch(t->port->node))
		tell_switch(sm, t->port->node, "a trap about link errors");
	else
		tell_port(sm, t->port, "a trap about link errors");
}

static enum violation_kind kind_of_key(unsigned number)
{
	switch (number) {
	case TRAP_BAD_MKEY:
		return VIOLATION_M_KEY;
	case TRAP_BAD_QKEY:
		return VIOLATION_Q_KEY;
	default:
		return VIOLATION_P_KEY;
	}
}

bool traps_may_accuse(struct sm *sm, const struct port *p)
{
	char text[PLACE_STRLEN + 200], where[PLACE_STRLEN];
	struct sender *s;

	if (node_is_switch(p->node))
		return true;
	s = senders_count(&sm->m.traps->accusers, p->guid, sm->now);
	if (s->n <= ACCUSED_TOLD)
		return true;
	if ((s->told && s->told >= s->since) ||
	    !log_allow(&sm->m.traps->accuser_log, sm->now, &(unsigned){ 0 }))
		return false;
	s->told = sm->now;
	snprintf(text, sizeof(text),
		 "%s: accuses more than %u ports of wrong keys (traps %u to %u): they are "
		 "counted, and not told any more for an hour",
		 fabric_place_str(p, where), ACCUSED_TOLD, TRAP_BAD_MKEY, TRAP_BAD_QKEY);
	traps_tell_offence(sm, p, LOG_ID_TRAP_FORGED, VIOLATION_TRAP, text);
	return false;
}

static void tell_key(struct sm *sm, const struct trap *t, enum violation_kind kind,
		     const struct port *by)
{
	char text[TRAP_KEY_STRLEN + 100], words[TRAP_KEY_STRLEN];

	snprintf(text, sizeof(text),
		 "%s (trap %u); those that follow are counted: opensmctl ports --violations",
		 trap_key_text(sm, t->port, t->notice, words), t->number);
	traps_tell_offence(sm, by, LOG_ID_TRAP_KEY, kind, text);
}

/*
 * Counts a trap about keys against the port that it accuses, also if its sender is ignored for its
 * rate; the first one against that port is logged.
 */
static void count_key(struct sm *sm, const struct trap *t)
{
	enum violation_kind kind = kind_of_key(t->number);
	struct port *witness, *by = trap_key_offender(sm, t->port, t->notice, &witness);

	if (by && by->node == sm->fabric->own && t->number == TRAP_BAD_MKEY)
		lockout_trap(sm, t->port, t->notice);
	if (!by || by->node == sm->fabric->own)
		return;
	if (violation_count(sm, kind, by) && traps_may_accuse(sm, t->port) &&
	    violation_may_tell(sm, kind, by))
		tell_key(sm, t, kind, by);
	if (witness)
		violation_witnessed(sm, kind, by, witness);
}

/*
 * Is the trap to be logged here? If the packet was ours, or of an unknown port, which has no
 * record.
 */
static bool is_to_be_told(struct sm *sm, const struct port *p, const struct port *by)
{
	if (!by)
		return traps_may_accuse(sm, p);
	return by->node == sm->fabric->own &&
	       senders_count(&sm->m.traps->refusers, p->guid, sm->now)->n == 1;
}

static void on_touched(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;

	sm->m.traps->n_touches--;
	if (mad_doubts_key(r))
		keys_doubt(sm, r->arg, r->m_key);
}

/*
 * Stops the lease of the port, which a wrong key has started, by a Get with the right key
 * (14.2.4.2). Not if the key is in doubt: that would be the next wrong key, and the next trap.
 */
static void touch(struct sm *sm, struct port *p)
{
	struct port *sma = port_of_sma(p);
	struct dr_path path;
	const struct mad_request rq = {
		.method = MAD_GET,
		.attr = IB_ATTR_NODE_DESC,
		.path = &path,
		.m_key = sma->m_key,
		.target = &p->node->target,
	};

	if (!sm->conf->m_key_protection_level || !sm->conf->m_key_lease_period || !p->guid ||
	    sma->key_doubts || sm->m.traps->n_touches >= TOUCHES_MOST ||
	    fabric_port_path(sm->fabric, p, &path) < 0 ||
	    senders_count(&sm->m.traps->touched, p->guid, sm->now)->n > 1)
		return;
	sm->m.traps->n_touches++;
	mad_submit(sm->mad, &rq, on_touched, sm, sma);
}

static void on_keys(struct sm *sm, const struct trap *t)
{
	struct port *witness, *by = trap_key_offender(sm, t->port, t->notice, &witness);
	char words[TRAP_KEY_STRLEN], others[LOG_OTHERS_STRLEN];
	unsigned more;

	if (is_to_be_told(sm, t->port, by) && log_allow(&sm->m.traps->key_log, sm->now, &more))
		log_on(about_port(LOG_ID_TRAP_KEY, t->port), LOGB_ERROR,
		       "%s (trap %u%s)", trap_key_text(sm, t->port, t->notice, words), t->number,
		       log_others(more, others));
	/* not after a key of ours: asked with it again, the port would send the next trap */
	if (t->number == TRAP_BAD_MKEY && !(by && by->node == sm->fabric->own))
		touch(sm, t->port);
	want_light(sm, &sm->m.traps->keys_light, KEYS_LIGHT, "a trap about keys");
}

static void act_on_trap(struct sm *sm, const struct trap *t)
{
	switch (t->kind) {
	case SM_TRAP_SM: /* only subnet managers send these */
		tell_news(sm, NEWS_MANAGER_HEARD, .port = t->port);
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
	char others[LOG_OTHERS_STRLEN];
	unsigned more;

	if (log_wants(LOGB_VERBOSE) && log_allow(&sm->m.traps->heard_log, sm->now, &more))
		log_port(t->port, LOG_ID_NONE, LOGB_VERBOSE,
			 "trap %u (%s)%s", t->number, name_of(t), log_others(more, others));
}

/* Takes a trap. The key in trap 256 may be an old one of ours, so it is not forwarded. */
static void take_trap(struct sm *sm, const struct trap *t)
{
	const struct transport_addr sender = { .lid = t->port ? t->port->lid : 0 };
	uint8_t shown[SMP_DATA_SIZE];

	tell_heard(sm, t);
	if (!t->port) {
		want_light(sm, &sm->m.traps->stranger_light, STRANGER_LIGHT,
			   "a trap from an unknown port");
		return;
	}
	if (!names_itself(sm, t)) {
		tell_forged(sm, t);
		return;
	}
	sm->m.traps->stats.taken++;
	memcpy(shown, t->notice, sizeof(shown));
	if (t->kind == SM_TRAP_KEYS && t->number == TRAP_BAD_MKEY)
		ib_put(shown, N256_M_KEY, 0);
	event_trap(sm, t->port, shown, name_of(t));
	sa_forward_trap(sm->sa, &sender, shown, sm->now);
	act_on_trap(sm, t);
}

/* ---- arrivals ------------------------------------------------------------------------------ */

static enum trap_from from_of(const struct port *p)
{
	if (!p)
		return TRAP_FROM_STRANGER;
	return node_is_switch(p->node) ? TRAP_FROM_SWITCH : TRAP_FROM_HOST;
}

/* Judges the trap; *ret_repress: a TrapRepress is to be sent. */
static enum trap_verdict trap_verdict_of(struct sm *sm, const struct trap *t, uint64_t tid,
					 bool *ret_repress)
{
	const struct trap_arrival a = {
		.from = from_of(t->port),
		.lid = t->port ? t->port->lid : 0,
		.guid = t->port ? t->port->guid : 0,
		.kind = t->kind,
		.tid = tid,
		.notice = t->notice,
	};
	enum trap_verdict verdict = trap_flow_arrived(sm->m.traps->flow, &a, sm->now);

	*ret_repress = trap_flow_represses(sm->m.traps->flow, &a, verdict, sm->now);
	return verdict;
}

/* Counts the trap against its port, also if its sender is ignored for its rate. */
static void count_trap(struct sm *sm, const struct trap *t)
{
	if (!t->port || !names_itself(sm, t))
		return;
	if (t->kind == SM_TRAP_ERRORS)
		tell_news(sm, NEWS_COMPLAINT, .port = complaining_port(t), .number = t->number);
	else if (t->kind == SM_TRAP_KEYS)
		count_key(sm, t);
}

void traps_receive(struct sm *sm, const struct transport_addr *from, const uint8_t *mad)
{
	struct sm_trap_stats *st = &sm->m.traps->stats;
	struct trap t = { .notice = smp_data(mad),
			  .number = (unsigned)ib_get(smp_data(mad), NT_TRAP),
			  .kind = kind_of(smp_data(mad)) };
	enum trap_verdict verdict;
	bool repress;

	if (sm->state != SM_MASTER || !find_sender(sm, from, mad, &t.port))
		return;
	verdict = trap_verdict_of(sm, &t, ib_get(mad, SMP_TID), &repress);
	if (repress)
		send_repress(sm, from, mad, t.port);
	st->received[t.kind]++;
	if (!t.port)
		st->strangers++;
	if (verdict != TRAP_REPEAT)
		count_trap(sm, &t);
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

/* ---- suppressed traps ---------------------------------------------------------------------- */

static struct port *port_of_due(const struct sm *sm, const struct trap_due *due)
{
	struct port *p = lids_port_at(sm, due->lid);

	return p && p->guid == due->guid ? p : NULL;
}

static void tell_storm(struct sm *sm, const struct trap_due *due)
{
	const struct port *from = port_of_due(sm, due);
	char others[LOG_OTHERS_STRLEN];
	unsigned more;

	if (!log_allow(&sm->m.traps->storm_log, sm->now, &more))
		return;
	if (due->what == TRAP_DUE_STORM)
		log_port(from, LOG_ID_TRAP_STORM, LOGB_ERROR,
			 "sends more traps than are listened to, the last is %u (%s): it is looked "
			 "at now and then; find out what is wrong with it%s",
			 (unsigned)ib_get(due->notice, NT_TRAP),
			 ib_trap_name((unsigned)ib_get(due->notice, NT_TRAP)),
			 log_others(more, others));
	else
		log_port(from, LOG_ID_TRAP_STORM, LOGB_INFO,
			 "its storm of traps is over after %" PRId64 " s: %" PRIu64
			 " were left out%s",
			 due->lasted / MONO_S, due->suppressed, log_others(more, others));
}

/* Acts on the last suppressed notice; of earlier ones only the kinds are known. */
static void look_after_storm(struct sm *sm, const struct trap_due *due)
{
	struct trap t = { .port = port_of_due(sm, due),
			  .notice = due->notice,
			  .number = (unsigned)ib_get(due->notice, NT_TRAP),
			  .kind = kind_of(due->notice) };
	uint32_t others = due->kinds & ~(1u << t.kind);

	if (due->lid && !t.port)
		return; /* the port is gone */
	take_trap(sm, &t);
	if (!t.port)
		return;
	if ((others & 1u << SM_TRAP_LINK) && node_is_switch(t.port->node))
		on_link(sm, &t);
	if (others & 1u << SM_TRAP_LOCAL) {
		tell_news(sm, NEWS_DESCRIPTION, .port = t.port);
		if (says_is_sm(t.port, 0))
			tell_news(sm, NEWS_MANAGER_HEARD, .port = t.port);
		if (sm->conf->sweep_on_trap)
			tell_port(sm, t.port, "trap 144: a port changed");
	}
	if (others & 1u << SM_TRAP_IMAGE)
		on_image(sm, t.port);
}

void traps_tick(struct sm *sm)
{
	struct trap_due due;

	while (trap_flow_due(sm->m.traps->flow, sm->now, &due)) {
		if (sm->state != SM_MASTER)
			continue;
		if (due.what == TRAP_DUE_LOOK)
			look_after_storm(sm, &due);
		else
			tell_storm(sm, &due);
	}
}

mono_t traps_next(const struct sm *sm)
{
	return trap_flow_next(sm->m.traps->flow);
}
