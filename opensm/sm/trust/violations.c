// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ports that break rules (security.md 6, 9): counted, told once, switched off by policy.
 *
 * A record belongs to the switch port that the offender is behind, not to its GUID, which it can
 * change. It outlives the node behind it. There is at most one per port of the fabric, and no more
 * than MAX_OFFENDERS.
 *
 * Evidence for security_violation_policy isolate:
 *
 *   wrong P_Key    P_KeyViolations of the switch port that the host itself is on has grown by half
 *                  of the threshold since the window began
 *   wrong M_Key    a switch complains, the sender is known by the return path of a directed
 *                  route, and M_Key violations of the switch go on growing after the threshold
 *   a manager      it answered SMInfo along the directed route that leads through its port
 *   a lockout      it refused every M_Key, each in answer to a question of this manager (lockout.h)
 *
 * Counters are read when there is an accusation, and at most once a second per port.
 */
#include "sm/trust/violations.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "fabric/observe.h"
#include "sm/base/about.h"
#include "sm/out_of_use/out_of_use.h"
#include "sm/sm_internal.h"
#include "util/mem.h"
#include "util/told.h"

#define MAX_OFFENDERS 4096u
/* Time without a violation of a kind after which the next one is logged again. */
#define TOLD_FOR      (3600 * MONO_S)
/* Least time between two reads of a counter. */
#define READ_EVERY    (1 * MONO_S)
#define COUNTER_MAX   0xFFFFu

/* Reasons, each logged once, why a port is not switched off. */
enum { TOLD_SPARED, TOLD_UNPROVEN };

/* The counter of a witness: not read, being read, known since `at`, being read again. */
enum proof_stage { PROOF_NONE, PROOF_FIRST, PROOF_KNOWN, PROOF_SECOND };

struct proof {
	enum proof_stage stage;
	enum violation_kind kind;
	guid_t guid; /* node GUID of the witness */
	uint8_t num;
	unsigned before;
	mono_t at;
};

struct offender {
	/* node GUID of the switch port that the offender is behind; its own if there is none */
	guid_t guid;
	uint8_t num;
	struct port *at; /* NULL: the node is not in the fabric */
	struct violation_counts counts;
	struct {
		mono_t last, window; /* time of the last violation; begin of the window */
		unsigned n;	     /* number of violations within the window */
	} kind[VIOLATION_KINDS];
	mono_t heard;
	struct proof proof;
	struct told told, kinds_told;
};

struct violations {
	struct offender **all;
	uint32_t n, cap;
	struct violation_counts total;
	bool (*is_listed)(const struct sm *sm, guid_t guid);
	struct log_limit log;
};
MACHINE_MEMORY(violations);

static const struct kind {
	const char *name, *plural;
	/* proof that switches the port off; NULL: the number within the window */
	const char *proof;
} kinds[VIOLATION_KINDS] = {
	[VIOLATION_M_KEY] = { "m_key", "SMPs with a wrong M_Key", NULL },
	[VIOLATION_P_KEY] = { "p_key", "packets with a wrong P_Key", NULL },
	[VIOLATION_Q_KEY] = { "q_key", "packets with a wrong Q_Key", NULL },
	[VIOLATION_CC_KEY] = { "cc_key", "congestion control MADs with a wrong CC_Key", NULL },
	[VIOLATION_TRAP] = { "trap", "traps about other ports", NULL },
	[VIOLATION_MANAGER] = { "manager", "answers of a subnet manager that is not obeyed", NULL },
	[VIOLATION_IDENTITY] = { "identity", "claims of another identity", NULL },
	[VIOLATION_LOCKOUT] = { "lockout", "refusals of every M_Key that is known for the port",
				"it refused every M_Key that is known for it, several times" },
	[VIOLATION_CAPABILITY] = { "capability", "claims of capabilities that cannot be", NULL },
};

const char *violation_kind_name(enum violation_kind kind)
{
	assert(kind < VIOLATION_KINDS);
	return kinds[kind].name;
}

void violations_new(struct sm *sm, bool (*is_listed)(const struct sm *sm, guid_t guid))
{
	assert(is_listed);
	sm->m.violations->is_listed = is_listed;
	sm->m.violations->log = (struct log_limit){ .interval = 10 * MONO_S, .burst = 10 };
}

void violations_free(struct sm *sm)
{
	struct violations *v = sm->m.violations;

	for (uint32_t i = 0; i < v->n; i++)
		free(v->all[i]);
	free(v->all);
}

/* ---- records -------------------------------------------------------------------------------- */

/* The port that a record is for: the switch port, if `p` is behind one. */
static struct port *place_of(const struct port *p)
{
	struct port *peer = p->peer;
	bool behind = !node_is_switch(p->node) && peer && node_is_switch(peer->node);

	return behind ? peer : &p->node->ports[p->num];
}

/* Marks both ends of the cable as changed, as counts are shown for both. */
static void note_shown(const struct offender *o)
{
	if (!o->at)
		return;
	observe_shown(o->at->node);
	if (o->at->peer)
		observe_shown(o->at->peer->node);
}

static void bind_offender(struct offender *o, struct port *at)
{
	note_shown(o);
	if (o->at)
		o->at->offender = NULL;
	o->at = at;
	if (at)
		at->offender = o;
	note_shown(o);
}

static struct offender *find_offender(const struct violations *v, const struct port *at)
{
	for (uint32_t i = 0; i < v->n; i++) {
		if (v->all[i]->guid == at->node->guid && v->all[i]->num == at->num)
			return v->all[i];
	}
	return NULL;
}

static bool is_being_asked(const struct offender *o)
{
	return o->proof.stage == PROOF_FIRST || o->proof.stage == PROOF_SECOND;
}

static uint64_t weight_of(const struct offender *o)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < VIOLATION_KINDS; i++)
		n += o->counts.n[i];
	return n;
}

/* May record `a` make way rather than `b`? Invented offenders must not displace frequent ones. */
static bool is_dispensable(const struct offender *a, const struct offender *b)
{
	uint64_t wa = weight_of(a), wb = weight_of(b);

	return wa < wb || (wa == wb && a->heard < b->heard);
}

/*
 * A new record, or the one with the fewest violations; of equals the one with the oldest violation.
 * NULL: all are busy.
 */
static struct offender *room_for_offender(struct violations *v)
{
	struct offender *least = NULL;

	if (v->n < MAX_OFFENDERS) {
		GROW(v->all, v->n + 1, v->cap);
		return v->all[v->n++] = xcalloc(1, sizeof(struct offender));
	}
	for (uint32_t i = 0; i < v->n; i++) {
		struct offender *o = v->all[i];

		if (!is_being_asked(o) && (!least || is_dispensable(o, least)))
			least = o;
	}
	if (!least)
		return NULL;
	bind_offender(least, NULL);
	*least = (struct offender){ 0 };
	return least;
}

static struct offender *need_offender(struct violations *v, struct port *at)
{
	struct offender *o = at->offender ? at->offender : find_offender(v, at);

	if (!o)
		o = room_for_offender(v);
	if (!o || o->at == at)
		return o;
	o->guid = at->node->guid;
	o->num = at->num;
	bind_offender(o, at);
	return o;
}

void violations_forget(struct sm *sm, struct node *n)
{
	for (unsigned i = 0; i <= n->n_ports; i++) {
		if (n->ports[i].offender)
			bind_offender(n->ports[i].offender, NULL);
	}
}

/* ---- counting ------------------------------------------------------------------------------- */

/* Counts a violation in its window. A counter that was read in an earlier window is out of date. */
static void count_in_window(struct sm *sm, struct offender *o, enum violation_kind kind)
{
	mono_t window = (mono_t)sm->conf->security_violation_window * MONO_S;

	if (!o->kind[kind].n || sm->now - o->kind[kind].window >= window) {
		o->kind[kind].window = sm->now;
		o->kind[kind].n = 0;
		if (o->proof.kind == kind && !is_being_asked(o))
			o->proof.stage = PROOF_NONE;
	}
	o->kind[kind].n++;
}

bool violation_count(struct sm *sm, enum violation_kind kind, struct port *p)
{
	struct violations *v = sm->m.violations;
	struct offender *o = need_offender(v, place_of(p));

	assert(kind < VIOLATION_KINDS);
	v->total.n[kind]++;
	if (!o)
		return false;
	o->counts.n[kind]++;
	note_shown(o);
	o->heard = sm->now;
	count_in_window(sm, o, kind);
	if (sm->now - o->kind[kind].last >= TOLD_FOR)
		told_change(&o->kinds_told, kind, false);
	o->kind[kind].last = sm->now;
	return !told_holds(&o->kinds_told, kind);
}

bool violation_may_tell(struct sm *sm, enum violation_kind kind, const struct port *p)
{
	struct violations *v = sm->m.violations;
	struct offender *o = place_of(p)->offender;

	assert(kind < VIOLATION_KINDS);
	if (!o || !log_allow(&v->log, sm->now, &(unsigned){ 0 }))
		return false;
	told_first(&o->kinds_told, kind);
	return true;
}

/* ---- isolation ------------------------------------------------------------------------------ */

bool violations_isolate(const struct sm *sm)
{
	return sm->state == SM_MASTER && !strcmp(sm->conf->security_violation_policy, "isolate");
}

/* The reason why a port stays enabled whatever is proven; NULL: it may be switched off. */
static const char *why_spared(const struct sm *sm, const struct port *at)
{
	const struct port *end = at->peer;

	if (!node_is_switch(at->node) || !at->num)
		return "it is not behind a switch";
	if (!end)
		return "no node is known behind the port";
	if (node_is_switch(end->node))
		return "a switch is behind the port";
	if (end->node->type == IB_NODE_ROUTER)
		return "a router is behind the port";
	if (end->node == sm->fabric->own)
		return "this manager is behind the port";
	if (sm->m.violations->is_listed(sm, end->guid))
		return "allowed_sm_guids lists it";
	return NULL;
}

static void isolate(struct sm *sm, struct offender *o, enum violation_kind kind)
{
	const char *spared = o->at ? why_spared(sm, o->at) : "its switch is not known";
	char why[SWITCHED_OFF_WHY];

	if (spared && told_first(&o->told, TOLD_SPARED))
		log_port(o->at, LOG_ID_TRAP_KEY, LOGB_ERROR, "%s; it is not switched off: %s",
			 kinds[kind].plural, spared);
	if (spared)
		return;
	if (kinds[kind].proof)
		snprintf(why, sizeof(why), "%s", kinds[kind].proof);
	else
		snprintf(why, sizeof(why), "%u %s in %u s", o->kind[kind].n, kinds[kind].plural,
			 (unsigned)((sm->now - o->kind[kind].window) / MONO_S) + 1);
	out_of_use_switch_off(sm, o->at, why);
}

/* ---- counters of witnesses ------------------------------------------------------------------ */

static unsigned counter_of(enum violation_kind kind, const uint8_t *info)
{
	return (unsigned)(kind == VIOLATION_M_KEY ? ib_get(info, PI_M_KEY_VIOLATIONS)
						  : ib_get(info, PI_P_KEY_VIOLATIONS));
}

/*
 * The growth that the counter must show: half of the threshold, as packets before the first read
 * are not seen, within the width of the counter.
 */
static unsigned growth_needed(const struct sm *sm, enum violation_kind kind)
{
	unsigned half = MIN(sm->conf->security_violation_threshold, COUNTER_MAX) / 2;

	return kind == VIOLATION_P_KEY ? MAX(half, 1u) : 1;
}

static void judge_growth(struct sm *sm, struct offender *o, unsigned now)
{
	const struct proof *proof = &o->proof;
	char where[PLACE_STRLEN];

	if (now >= proof->before + growth_needed(sm, proof->kind)) {
		isolate(sm, o, proof->kind);
		return;
	}
	o->proof.stage = PROOF_KNOWN;
	if (!told_first(&o->told, TOLD_UNPROVEN))
		return;
	log_on(about_port(LOG_ID_TRAP_KEY, o->at), LOGB_ERROR,
	       "%s: traps accuse it of %u %s, but the counter of the device that complains does "
	       "not agree (%u, then %u): it is not switched off",
	       fabric_place_str(o->at, where), o->kind[proof->kind].n, kinds[proof->kind].plural,
	       proof->before, now);
}

static void on_counter(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;
	struct offender *o = r->arg;
	bool second = o->proof.stage == PROOF_SECOND;

	o->proof.at = sm->now;
	o->proof.stage = PROOF_NONE;
	if (r->end != MAD_END_ANSWERED)
		return;
	if (second) {
		judge_growth(sm, o, counter_of(o->proof.kind, r->payload));
		return;
	}
	o->proof.before = counter_of(o->proof.kind, r->payload);
	o->proof.stage = PROOF_KNOWN;
}

static void read_counter(struct sm *sm, struct offender *o, struct port *witness,
			 enum proof_stage stage)
{
	struct dr_path path;
	const struct mad_request rq = {
		.method = MAD_GET,
		.attr = IB_ATTR_PORT_INFO,
		.mod = witness->num,
		.path = &path,
		.m_key = port_of_sma(witness)->m_key,
	};

	if (fabric_port_path(sm->fabric, witness, &path) < 0)
		return;
	o->proof.stage = stage;
	o->proof.at = sm->now;
	mad_submit(sm->mad, &rq, on_counter, sm, o);
}

/* The witness that was asked first, if it still exists. */
static struct port *same_witness(const struct sm *sm, const struct proof *proof)
{
	struct node *n = fabric_find_node(sm->fabric, proof->guid);

	return n && proof->num <= n->n_ports ? &n->ports[proof->num] : NULL;
}

static void begin_proof(struct sm *sm, struct offender *o, enum violation_kind kind,
			struct port *witness)
{
	o->proof.kind = kind;
	o->proof.guid = witness->node->guid;
	o->proof.num = witness->num;
	read_counter(sm, o, witness, PROOF_FIRST);
}

void violation_witnessed(struct sm *sm, enum violation_kind kind, struct port *p,
			 struct port *witness)
{
	struct offender *o = place_of(p)->offender;
	bool reached;

	assert(kind == VIOLATION_M_KEY || kind == VIOLATION_P_KEY);
	if (!o || !violations_isolate(sm) || is_being_asked(o) ||
	    (o->proof.at && sm->now - o->proof.at < READ_EVERY))
		return;
	reached = o->kind[kind].n >= sm->conf->security_violation_threshold;
	if (o->proof.stage == PROOF_NONE) {
		if (reached || kind == VIOLATION_P_KEY)
			begin_proof(sm, o, kind, witness);
	} else if (reached && o->proof.kind == kind) {
		witness = same_witness(sm, &o->proof);
		o->proof.stage = PROOF_NONE;
		if (witness)
			read_counter(sm, o, witness, PROOF_SECOND);
	}
}

void violation_proven(struct sm *sm, enum violation_kind kind, struct port *p)
{
	struct offender *o = place_of(p)->offender;

	if (o && violations_isolate(sm))
		isolate(sm, o, kind);
}

void violation_seen(struct sm *sm, enum violation_kind kind, struct port *p, bool proven)
{
	violation_count(sm, kind, p);
	if (proven)
		violation_proven(sm, kind, p);
}

/* ---- what others may know ------------------------------------------------------------------- */

const struct violation_counts *violations_of(const struct port *p)
{
	const struct port *at = place_of(p);

	return at->offender ? &at->offender->counts : NULL;
}

const struct violation_counts *violations_total(const struct sm *sm)
{
	return &sm->m.violations->total;
}

unsigned violations_ports(const struct sm *sm, unsigned *ret_isolated)
{
	const struct violations *v = sm->m.violations;

	*ret_isolated = 0;
	for (uint32_t i = 0; i < v->n; i++)
		*ret_isolated += v->all[i]->at && out_of_use_is_switched_off(v->all[i]->at);
	return v->n;
}
