// SPDX-License-Identifier: BSD-2-Clause
/*
 * The line on what is left out of the subnet, and why: worst first, a few examples of each kind.
 *
 *   3 left out: 'spine2' (0x0002...): no answer to SwitchInfo; 'h7' port 1 (0x0001...): ...
 *
 * Found anew on the fabric whenever it is asked for: whatever is not served is not served for a
 * reason that is written there.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sm/base/alarm_kinds.h"
#include "sm/base/about.h"
#include "sm/out_of_use/bad_cable.h"
#include "util/mem.h"

/* The line is logged no more often than this, however often it changes. */
#define LINE_INTERVAL (5 * MONO_S)
#define EXAMPLES      3u

struct found {
	unsigned n;
	const struct node *node[EXAMPLES];
	const struct port *port[EXAMPLES]; /* NULL: the node as a whole */
};

struct search {
	const struct sm *sm;
	const struct fabric *fabric;
	uint32_t *part; /* out_of_use_parts() */
	uint32_t
		/* discover_picture(sm): a running or interrupted sweep has not read everything */
		picture;
	bool only_faults; /* set if what an administrator has ordered is left aside */
	struct found of[ALARM_KINDS];
	unserved_fn *found; /* takes each find in place of `of`; NULL: `of` does */
	void *arg;
};

/* Did an administrator order this, or does it follow from that? */
static bool is_ordered(enum alarm_kind lack, const struct node *n, const struct port *p)
{
	const struct node *sw = p && p->peer && !node_is_switch(n) ? p->peer->node : n;

	return lack == ALARM_ADMIN_ISOLATED || lack == ALARM_ADMIN_DRAINED ||
	       (lack == ALARM_NO_WAY && (sw->isolated || out_of_use_switch_is_ordered(sw)));
}

static void note_lack(struct search *s, enum alarm_kind lack, const struct node *n,
		      const struct port *p)
{
	struct found *f;

	/* A plane is no fault: its port shows it, the line does not. */
	if (lack == ALARM_NONE || lack == ALARM_PLANE || (s->only_faults && is_ordered(lack, n, p)))
		return;
	if (s->found) {
		s->found(s->arg, lack, n, p);
		return;
	}
	f = &s->of[lack];
	if (f->n < EXAMPLES) {
		f->node[f->n] = n;
		f->port[f->n] = p;
	}
	f->n++;
}

/* ---- missing ports -------------------------------------------------------------------------- */

static bool is_cut_off(const struct search *s, const struct node *sw)
{
	const struct node *first = out_of_use_first_switch(s->fabric);

	return first && sw != first && s->part[sw->index] != s->part[first->index];
}

static enum alarm_kind lack_of_switch(const struct search *s, const struct node *n)
{
	if (!n->switch_known)
		return ALARM_NO_SWITCH_INFO;
	if (!n->ports[0].known)
		return ALARM_NO_SWITCH_PORTS;
	if (n->sync.lft_failures >= NODE_LFT_TRIES)
		return n->avoided ? ALARM_NO_TABLES : n->way ? ALARM_DEAD_END : ALARM_OLD_TABLES;
	if (n->small_table)
		return ALARM_SMALL_TABLE;
	if (n->misses)
		return ALARM_SILENT_SWITCH;
	if ((int32_t)(n->ports[0].seen - s->picture) < 0)
		return ALARM_NOT_READ;
	if (is_cut_off(s, n))
		return ALARM_NO_WAY;
	return n->ports[0].lid ? ALARM_NONE : ALARM_NO_LID;
}

/* The aggregation node of a switch that is left out is reported with the switch. */
static enum alarm_kind lack_of_host_port(const struct search *s, const struct port *p)
{
	const struct node *sw = p->peer ? p->peer->node : NULL;

	if (!sw || p == s->fabric->own_port)
		return ALARM_NONE;
	if (p->node->misses || node_is_mute(p->node))
		return ALARM_SILENT_HOST;
	if (!p->known)
		return ALARM_NO_PORT_INFO;
	if (node_is_switch(sw) && (!node_is_routable(sw) || is_cut_off(s, sw)))
		return node_quirk(s->sm, p->node, QUIRK_AGGREGATION) ? ALARM_NONE : ALARM_NO_WAY;
	return p->lid ? ALARM_NONE : ALARM_NO_LID;
}

/*
 * The fault of the node behind a switch port. Both ends of a cable to the switch itself are an
 * own cable.
 */
static enum alarm_kind lack_behind(const struct port *p)
{
	static const enum alarm_kind of_oddity[] = {
		[PORT_ODD_LOOPBACK] = ALARM_LOOPBACK,
		[PORT_ODD_TOO_FAR] = ALARM_TOO_FAR,
		[PORT_ODD_NONSENSE] = ALARM_NONSENSE,
		[PORT_ODD_HIDDEN] = ALARM_NONE, /* logged by sick.c */
		[PORT_ODD_PLANE] = ALARM_PLANE,
	};

	if (p->quarantined)
		return identity_is_held(p) ? ALARM_CLAIM : ALARM_DUPLICATE;
	if (p->peer)
		return p->peer->node == p->node ? ALARM_LOOP : ALARM_NONE;
	if (port_state(p) <= IB_PORT_DOWN)
		return ALARM_NONE;
	if (p->silent)
		return ALARM_SILENT_BEHIND;
	return p->odd == PORT_ODD_NOT ? ALARM_NONE : of_oddity[p->odd];
}

static enum alarm_kind lack_of_state(const struct port *p)
{
	if (p->pending < PORT_STUCK_AFTER || !p->known)
		return ALARM_NONE;
	return port_state(p) == IB_PORT_ARMED ? ALARM_IN_ARMED : ALARM_IN_INIT;
}

/* Is this the second end of a cable, both of which are one item? */
static bool is_second_end(const struct port *p)
{
	return p->peer && p->peer->pending >= PORT_STUCK_AFTER &&
	       (p->peer->node->guid < p->node->guid ||
		(p->peer->node == p->node && p->peer->num < p->num));
}

static void look_at_port(struct search *s, const struct port *p)
{
	enum alarm_kind lack = node_is_switch(p->node) ? lack_behind(p) : lack_of_host_port(s, p);

	if (lack != ALARM_LOOP || p->num < p->peer->num)
		note_lack(s, lack, p->node, p);
	if (!is_second_end(p))
		note_lack(s, lack_of_state(p), p->node, p);
}

static void look_at_node(struct search *s, const struct node *n)
{
	if (node_is_switch(n))
		note_lack(s, lack_of_switch(s, n), n, NULL);
	for (unsigned i = 1; i <= n->n_ports; i++)
		look_at_port(s, &n->ports[i]);
}

/* Reasons that are named for a cable; others are reported by its ports, or by health. */
static const enum alarm_kind lack_of_reason[OUT_REASONS] = {
	[OUT_COMPLAINS] = ALARM_UNHEALTHY,
	[OUT_FLAPS] = ALARM_HELD,
	[OUT_HEALTH] = ALARM_NONE,
	[OUT_DRAINED] = ALARM_ADMIN_DRAINED,
	[OUT_ISOLATED] = ALARM_ADMIN_ISOLATED,
	[OUT_UNEXPECTED] = ALARM_NOT_EXPECTED,
	[OUT_RETURNS] = ALARM_NONE,
	[OUT_STUCK] = ALARM_NONE,
};

/* The most severe named reason of a cable. A link that was taken down may train. */
static enum alarm_kind lack_of_cable(const struct bad_cable *c)
{
	unsigned bits = c->shown;

	if (c->off.at)
		return c->off.why[0] ? ALARM_ISOLATED : ALARM_OFF;
	while (bits) {
		enum out_reason worst = reason_worst(bits);
		bool named = lack_of_reason[worst] != ALARM_NONE;

		if (named && cable_is_gone(c) && worst != OUT_FLAPS && worst != OUT_COMPLAINS)
			return ALARM_NONE;
		if (named)
			return lack_of_reason[worst];
		bits &= ~BIT(worst);
	}
	return ALARM_NONE;
}

static void look_at_cable(struct search *s, const struct bad_cable *c)
{
	const struct port *p = c->end[0].at ? c->end[0].at : c->end[1].at;

	if (c->off.at)
		p = c->off.at;
	if (p)
		note_lack(s, lack_of_cable(c), p->node, p);
}

/* ---- port by port --------------------------------------------------------------------------- */

struct sm_reasons {
	struct search search;
	enum sm_state state;
	bool has_swept;
	const struct node *first; /* out_of_use_first_switch() */
	uint64_t edits, shape;	  /* versions of the fabric when `search.part` was made */
};

struct sm_reasons *sm_reasons_new(const struct sm *sm)
{
	struct sm_reasons *r = xcalloc(1, sizeof(*r));

	r->search = (struct search){
		.sm = sm,
		.fabric = sm->fabric,
		.part = out_of_use_parts(sm->fabric),
		.picture = discover_picture(sm),
	};
	r->state = sm->state;
	r->has_swept = sm->stats.heavy_sweeps;
	r->first = out_of_use_first_switch(sm->fabric);
	r->edits = sm->fabric->edits;
	r->shape = sm->fabric->shape;
	return r;
}

/* Are the parts of the fabric unchanged? Ports of other switches report one that is cut off. */
static bool parts_hold(const struct sm_reasons *r, const struct fabric *f)
{
	_cleanup_free_ uint32_t *part = NULL;

	if (f->edits == r->edits)
		return true;
	if (f->shape != r->shape || out_of_use_first_switch(f) != r->first)
		return false;
	part = out_of_use_parts(f);
	return !memcmp(part, r->search.part, f->n_nodes * sizeof(*part));
}

bool sm_reasons_hold(const struct sm_reasons *r, const struct sm *sm)
{
	assert(r && sm);
	return r->state == sm->state && r->has_swept == !!sm->stats.heavy_sweeps &&
	       r->search.picture == discover_picture(sm) && parts_hold(r, sm->fabric);
}

struct sm_reasons *sm_reasons_free(struct sm_reasons *r)
{
	if (r)
		free(r->search.part);
	free(r);
	return NULL;
}

enum alarm_kind sm_reason_kind(const struct sm_reasons *r, const struct port *p)
{
	enum alarm_kind lack = p->out.cable ? lack_of_cable(p->out.cable) : ALARM_NONE;

	assert(r && p);
	if (lack == ALARM_NONE && node_is_switch(p->node))
		lack = p->num ? lack_behind(p) : lack_of_switch(&r->search, p->node);
	else if (lack == ALARM_NONE)
		lack = lack_of_host_port(&r->search, p);
	if (lack == ALARM_NONE)
		lack = lack_of_state(p);
	return lack;
}

const char *sm_reason(const struct sm_reasons *r, const struct port *p)
{
	enum alarm_kind kind = sm_reason_kind(r, p);

	return kind == ALARM_NONE ? NULL : alarm_rows[kind].cause;
}

mono_t sm_held_for(const struct port *p, mono_t now)
{
	const struct bad_cable *c = p->out.cable;

	return c && c->out && c->reasons & BIT(OUT_FLAPS) ? MAX(c->flaps.until - now, MONO_S) : 0;
}

/* ---- the line ------------------------------------------------------------------------------- */

static void example_str(const struct found *f, unsigned i, char ret[PORT_STRLEN])
{
	if (f->port[i])
		fabric_port_str(f->port[i], ret);
	else
		fabric_node_str(f->node[i], ret);
}

static void group_str(const struct found *f, const char *text, char *ret, size_t cap)
{
	unsigned n = MIN(f->n, EXAMPLES);
	char where[PORT_STRLEN];
	size_t len = 0;

	for (unsigned i = 0; i < n && len < cap; i++) {
		example_str(f, i, where);
		len += snprintf(ret + len, cap - len, "%s%s", i ? ", " : "", where);
	}
	if (f->n > n && len < cap)
		len += snprintf(ret + len, cap - len, " and %u more", f->n - n);
	if (len < cap)
		snprintf(ret + len, cap - len, ": %s", text);
}

/* Room for the last words: "; and 49151 more". */
#define TAIL 20

/* Writes the line, with as many groups as it has room for. */
static void line_str(const struct search *s, unsigned total, char *ret, size_t cap)
{
	size_t len = snprintf(ret, cap, "%u left out", total);
	unsigned told = 0;

	for (unsigned i = 0; i < ALARM_KINDS && len < cap; i++) {
		char group[EXAMPLES * PORT_STRLEN + 128];

		if (!s->of[i].n)
			continue;
		group_str(&s->of[i], alarm_rows[i].cause, group, sizeof(group));
		if (len + strlen(group) + 2 + TAIL > cap)
			break;
		len += snprintf(ret + len, cap - len, "%s%s", told ? "; " : ": ", group);
		told += s->of[i].n;
	}
	if (told < total && len < cap)
		snprintf(ret + len, cap - len, "%s%u more", told ? "; and " : ": ", total - told);
}

static void search_all(struct search *s, const struct sm *sm)
{
	s->sm = sm;
	s->fabric = sm->fabric;
	s->part = out_of_use_parts(sm->fabric);
	s->picture = discover_picture(sm);
	FABRIC_EACH_NODE(sm->fabric, n)
		look_at_node(s, n);
	for (uint32_t i = 0; i < sm->m.out_of_use->n; i++)
		look_at_cable(s, sm->m.out_of_use->cables[i]);
	free(take(s->part));
}

void unserved_each(const struct sm *sm, unserved_fn *found, void *arg)
{
	struct search s = { .found = found, .arg = arg };

	assert(found);
	search_all(&s, sm);
}

static unsigned left_out(const struct sm *sm, bool only_faults, char *ret, size_t cap)
{
	struct search s = { .only_faults = only_faults };
	unsigned total = 0;

	search_all(&s, sm);
	for (unsigned i = 0; i < ALARM_KINDS; i++)
		total += s.of[i].n;
	if (total)
		line_str(&s, total, ret, cap);
	else if (cap)
		ret[0] = '\0';
	return total;
}

unsigned sm_left_out(const struct sm *sm, char *ret, size_t cap)
{
	return left_out(sm, false, ret, cap);
}

/* Logs faults; what an administrator ordered was logged when it was ordered. */
void unserved_report(struct sm *sm)
{
	struct out_of_use *h = sm->m.out_of_use;
	char line[LEFT_OUT_STRLEN];

	if (sm->state != SM_MASTER || !sm->first_sweep_done)
		return;
	left_out(sm, true, line, sizeof(line));
	h->line_waits = strcmp(line, h->line) != 0;
	if (!h->line_waits)
		return;
	if (h->line_at && sm->now - h->line_at < LINE_INTERVAL) {
		out_of_use_wake(h, h->line_at + LINE_INTERVAL);
		return;
	}
	h->line_waits = false;
	h->line_at = sm->now;
	memcpy(h->line, line, sizeof(line));
	log_on(ABOUT(.id = LOG_ID_LEFT_OUT), line[0] ? LOGB_ERROR : LOGB_INFO, "%s",
	       line[0] ? line : "nothing is left out any more");
}
