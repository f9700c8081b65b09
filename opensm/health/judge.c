// SPDX-License-Identifier: BSD-2-Clause
/*
 * Events are exact: `n` of them in a window are found by the oldest of the n latest. Counters are
 * summed in buckets that together are no longer than their window, so a link just below a threshold
 * is never above it for the way it was summed; a reading that reaches back further than the window
 * raises the threshold in proportion.
 *
 * Bit errors: more symbol errors than bits * 1e-14 in the short window, or bits * 1e-15 in the long
 * one. Of slow links that is less than one error, which proves nothing: there are `ber_least` of
 * them as well.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "health/judge_internal.h"

#define NO_LINK	    UINT32_MAX
/* Seconds: LinkDowned of the two ends is read at different times. */
#define BOTH_WITHIN HEALTH_QUIET_SECS

static const char *const cond_names[HEALTH_CONDS] = {
	[HEALTH_REBOOT] = "reboot",	    [HEALTH_FLAPPING] = "flapping",
	[HEALTH_UNRESPONSIVE] = "unresponsive", [HEALTH_NOISY] = "noisy",
	[HEALTH_SETERR] = "seterr",	    [HEALTH_ILLEGAL] = "illegal",
	[HEALTH_LINK_DOWN] = "link_downed", [HEALTH_BER] = "symbol_ber",
	[HEALTH_PDR] = "packet_drop",	    [HEALTH_STALL] = "credit_stall",
	[HEALTH_MANUAL] = "manual",
};

static const char *const action_names[] = {
	[HEALTH_IGNORE] = "ignore",	      [HEALTH_REPORT] = "report",
	[HEALTH_ISOLATE] = "isolate",	      [HEALTH_NO_DISCOVER] = "no_discover",
	[HEALTH_DISABLE] = "disable",
};

const char *health_cond_name(enum health_cond cond)
{
	assert(cond < HEALTH_CONDS);
	return cond_names[cond];
}

const char *health_action_name(enum health_action action)
{
	assert(action < ARRAY_SIZE(action_names));
	return action_names[action];
}

bool health_action_read(const char *name, enum health_action *ret)
{
	for (unsigned i = 0; i < ARRAY_SIZE(action_names); i++) {
		if (strcmp(action_names[i], name))
			continue;
		*ret = (enum health_action)i;
		return true;
	}
	return false;
}

/* ---- links ----------------------------------------------------------------------------------- */

static uint32_t slot_of(const struct health *h, guid_t node, unsigned port)
{
	return (uint32_t)((node ^ port * 0x9E3779B97F4A7C15ull) * 0xD6E8FEB86659FD93ull >> 32) &
	       (h->n_slots - 1);
}

static void put_slot(struct health *h, uint32_t value)
{
	const struct health_end *e = &h->all[(value - 1) / 2].v.end[(value - 1) & 1];
	uint32_t s = slot_of(h, e->node, e->port);

	for (uint32_t i = 0; i < h->n_slots && h->slots[s]; i++)
		s = (s + 1) & (h->n_slots - 1);
	h->slots[s] = value;
}

static void rehash(struct health *h, uint32_t n_slots)
{
	free(h->slots);
	h->slots = xcalloc(n_slots, sizeof(*h->slots));
	h->n_slots = n_slots;
	for (uint32_t i = 0; i < 2 * h->n; i++)
		put_slot(h, i + 1);
}

struct health *health_new(const struct health_rules *rules)
{
	struct health *h = xcalloc(1, sizeof(*h));

	h->rules = *rules;
	rehash(h, 64);
	return h;
}

static void forget(struct health_record *r)
{
	for (unsigned i = 0; i < HEALTH_EVENTS; i++) {
		free(r->times[i].at);
		r->times[i] = (struct health_times){ 0 };
	}
	for (unsigned i = 0; i < 2; i++) {
		free(r->port[i]);
		r->port[i] = NULL;
	}
	r->manual = false;
	r->v.now = r->v.on = 0;
	r->v.since = r->v.last = 0;
}

void health_list(struct health *h, struct health_record *r)
{
	if (r->listed)
		return;
	r->listed = true;
	GROW(h->listed, h->n_listed + 1, h->cap_listed);
	h->listed[h->n_listed++] = (uint32_t)(r - h->all);
}

void health_forget_all(struct health *h)
{
	h->n_listed = 0;
	while (h->n)
		forget(&h->all[--h->n]);
	h->n_offs = 0;
	memset(h->slots, 0, h->n_slots * sizeof(*h->slots));
}

struct health *health_free(struct health *h)
{
	if (!h)
		return NULL;
	health_forget_all(h);
	free(h->all);
	free(h->slots);
	free(h->offs);
	free(h->listed);
	free(h);
	return NULL;
}

static bool is_end(const struct health_end *e, guid_t node, unsigned port)
{
	return e->node == node && e->port == port;
}

uint32_t health_find(const struct health *h, guid_t node, unsigned port)
{
	uint32_t s = slot_of(h, node, port);

	for (uint32_t i = 0; i < h->n_slots && h->slots[s]; i++) {
		uint32_t value = h->slots[s] - 1;

		if (is_end(&h->all[value / 2].v.end[value & 1], node, port))
			return value / 2;
		s = (s + 1) & (h->n_slots - 1);
	}
	return NO_LINK;
}

static bool is_link(const struct health *h, uint32_t link, struct health_end a,
		    struct health_end b)
{
	const struct health_end *end = h->all[link].v.end;

	return (is_end(&end[0], a.node, a.port) && is_end(&end[1], b.node, b.port)) ||
	       (is_end(&end[1], a.node, a.port) && is_end(&end[0], b.node, b.port));
}

/* The cable was put elsewhere: its record begins anew, and the ends that lost it have none. */
static void take_over(struct health *h, uint32_t link, struct health_end a, struct health_end b,
		      bool host)
{
	struct health_record *r = &h->all[link];
	bool swap = b.node < a.node || (b.node == a.node && b.port < a.port);

	forget(r);
	r->counted = 0;
	r->v.end[0] = swap ? b : a;
	r->v.end[1] = swap ? a : b;
	r->v.host = host;
}

uint32_t health_link(struct health *h, struct health_end a, struct health_end b, bool host)
{
	uint32_t link = health_find(h, a.node, a.port), other;

	if (link != NO_LINK && is_link(h, link, a, b))
		return link;
	other = health_find(h, b.node, b.port);
	if (link == NO_LINK)
		link = other;
	if (link != NO_LINK) {
		if (other != NO_LINK && other != link)
			take_over(h, other, (struct health_end){ 0 }, (struct health_end){ 0 }, 0);
		take_over(h, link, a, b, host);
		rehash(h, h->n_slots);
		return link;
	}
	if (h->n >= HEALTH_LINKS_MAX)
		return NO_LINK;
	GROW(h->all, h->n + 1, h->cap);
	h->all[h->n] = (struct health_record){ 0 };
	take_over(h, h->n++, a, b, host);
	if (4 * h->n > h->n_slots) {
		rehash(h, 4 * h->n_slots);
	} else {
		put_slot(h, 2 * h->n - 1);
		put_slot(h, 2 * h->n);
	}
	return h->n - 1;
}

uint32_t health_n_links(const struct health *h)
{
	return h->n;
}

const struct health_verdict *health_verdict(const struct health *h, uint32_t link)
{
	assert(link < h->n);
	return &h->all[link].v;
}

void health_clear(struct health *h, uint32_t link)
{
	assert(link < h->n);
	forget(&h->all[link]);
}

void health_set_manual(struct health *h, uint32_t link, bool manual)
{
	struct health_record *r = &h->all[link];

	assert(link < h->n);
	if (r->manual && !manual)
		r->v.on &= ~(1u << HEALTH_MANUAL);
	r->manual = manual;
	if (!r->v.on)
		r->v.since = r->v.last = 0;
}

bool health_is_manual(const struct health *h, uint32_t link)
{
	assert(link < h->n);
	return h->all[link].manual;
}

void health_quiet(struct health *h, uint32_t link, int64_t until)
{
	assert(link < h->n);
	h->all[link].quiet_until = until;
}

struct health_off *health_off_add(struct health *h, struct health_end at, struct health_end far)
{
	uint32_t n = 0;

	while (n < h->n_offs && !is_end(&h->offs[n].at, at.node, at.port))
		n++;
	if (n == h->n_offs)
		APPEND(h->offs, h->n_offs, h->cap_offs) = (struct health_off){ .at = at };
	h->offs[n].far = far;
	return &h->offs[n];
}

struct health_off *health_off_at(const struct health *h, uint32_t n)
{
	return n < h->n_offs ? &h->offs[n] : NULL;
}

void health_off_remove(struct health *h, uint32_t n)
{
	assert(n < h->n_offs);
	h->offs[n] = h->offs[--h->n_offs];
}

void health_set_rules(struct health *h, const struct health_rules *rules)
{
	bool other = rules->ber_short != h->rules.ber_short || rules->ber_long != h->rules.ber_long;

	h->rules = *rules;
	for (uint32_t i = 0; other && i < h->n; i++) {
		for (unsigned k = 0; k < 2; k++) {
			free(h->all[i].port[k]);
			h->all[i].port[k] = NULL;
		}
	}
}

/* ---- events ---------------------------------------------------------------------------------- */

void health_note_time(struct health *h, struct health_record *r, unsigned cond, uint32_t at)
{
	struct health_times *t = &r->times[cond];
	unsigned keep = MIN(h->rules.events[cond].n, HEALTH_MOST_EVENTS);

	if (!keep || (h->rules.events[cond].sweeps && t->n && t->at[t->n - 1] == at))
		return;
	if (t->n >= keep) { /* more than `keep` after a reload: the latest stay */
		memmove(t->at, t->at + t->n - keep + 1, (keep - 1) * sizeof(*t->at));
		t->n = (uint8_t)(keep - 1);
	}
	if (t->n == t->cap) {
		t->cap = (uint8_t)MIN(2u * t->cap + 2, HEALTH_MOST_EVENTS);
		t->at = xrealloc(t->at, t->cap, sizeof(*t->at));
	}
	t->at[t->n++] = at;
	r->counted++;
	health_list(h, r);
}

void health_event(struct health *h, uint32_t link, enum health_cond cond, int64_t now)
{
	uint32_t at = h->rules.events[cond].sweeps ? h->sweep : (uint32_t)now;

	assert(link < h->n && cond < HEALTH_EVENTS);
	health_note_time(h, &h->all[link], cond, at);
}

void health_sweep(struct health *h)
{
	h->sweep++;
}

/* How many of an event lie in its window now. */
static unsigned events_in(const struct health *h, const struct health_record *r, unsigned cond,
			  int64_t now)
{
	uint32_t at = h->rules.events[cond].sweeps ? h->sweep : (uint32_t)now;
	unsigned n = 0;

	for (unsigned i = r->times[cond].n; i-- > 0; n++)
		if (at - r->times[cond].at[i] >= h->rules.events[cond].window)
			break;
	return n;
}

/* ---- counters -------------------------------------------------------------------------------- */

static uint32_t add(uint32_t sum, uint64_t more)
{
	return more > UINT32_MAX - sum ? UINT32_MAX : sum + (uint32_t)more;
}

static void add_bucket(struct health_ring *ring, unsigned n, int64_t no,
		       const struct health_bucket *more)
{
	struct health_bucket *b = &ring->at[no % n];

	if (no < ring->no) /* the clock was set back */
		*ring = (struct health_ring){ .no = 0 };
	for (int64_t i = MAX(ring->no + 1, no - (int64_t)n + 1); i <= no; i++)
		ring->at[i % n] = (struct health_bucket){ 0 };
	ring->no = no;
	b->symbols = add(b->symbols, more->symbols);
	b->drops = add(b->drops, more->drops);
	b->secs = add(b->secs, more->secs);
	b->packets += more->packets;
	b->wait += more->wait;
}

/* Sum of the buckets in the window that ends at bucket `no`. */
static struct health_bucket sum_of(const struct health_ring *ring, unsigned n, int64_t no)
{
	struct health_bucket sum = { 0 };

	for (int64_t i = MAX(no - (int64_t)n + 1, (int64_t)0); i <= MIN(ring->no, no); i++) {
		const struct health_bucket *b = &ring->at[i % n];

		if (i <= ring->no - (int64_t)n)
			continue;
		sum.symbols = add(sum.symbols, b->symbols);
		sum.drops = add(sum.drops, b->drops);
		sum.secs = add(sum.secs, b->secs);
		sum.packets += b->packets;
		sum.wait += b->wait;
	}
	return sum;
}

static unsigned width_of(unsigned window, unsigned buckets)
{
	return MAX((window + buckets - 1) / buckets, 1u);
}

static uint64_t grown(const struct port_counts *c, enum port_count n)
{
	return port_count_known(c, n) ? c->grown[n] : 0;
}

struct health_port *health_need_port(struct health_record *r, unsigned end)
{
	if (!r->port[end])
		r->port[end] = xcalloc(1, sizeof(*r->port[end]));
	return r->port[end];
}

/* A link that went down tells both its ends: what only one of them counts is a reset, or a test. */
static void count_downs(struct health *h, struct health_record *r, unsigned end, uint64_t n,
			int64_t now)
{
	struct health_port *p = r->port[end], *q = health_need_port(r, !end);

	if (now - p->downs_at > BOTH_WITHIN)
		p->downs = 0;
	if (now - q->downs_at > BOTH_WITHIN)
		q->downs = 0;
	if (!n || now < r->quiet_until)
		return;
	p->downs = (uint32_t)MIN(p->downs + n, (uint64_t)HEALTH_MOST_EVENTS);
	p->downs_at = now;
	while (p->downs && q->downs) {
		p->downs--;
		q->downs--;
		health_note_time(h, r, HEALTH_LINK_DOWN, (uint32_t)now);
	}
}

void health_counts(struct health *h, uint32_t link, guid_t node, unsigned port,
		   const struct port_counts *c, uint64_t bps, int64_t now)
{
	struct health_record *r = &h->all[link];
	unsigned end = !is_end(&r->v.end[0], node, port);
	struct health_port *p = health_need_port(r, end);
	struct health_bucket b = {
		.symbols = add(0, grown(c, PORT_COUNT_SYMBOL_ERRORS)),
		.drops = add(0, grown(c, PORT_COUNT_RCV_ERRORS) +
					grown(c, PORT_COUNT_RCV_REMOTE_PHYSICAL)),
		.secs = add(0, (c->interval_us + 500000) / 1000000),
		.packets = (float)grown(c, PORT_COUNT_RCV_PKTS),
		.wait = (float)grown(c, PORT_COUNT_XMIT_WAIT),
	};

	assert(link < h->n);
	p->bps = bps;
	if (b.symbols || b.drops) {
		r->counted++;
		health_list(h, r);
	}
	add_bucket(&p->brief, SHORT_BUCKETS, now / width_of(h->rules.ber_short, SHORT_BUCKETS), &b);
	add_bucket(&p->wide, LONG_BUCKETS, now / width_of(h->rules.ber_long, LONG_BUCKETS), &b);
	count_downs(h, r, end, grown(c, PORT_COUNT_LINK_DOWNED), now);
}

static bool is_noisy(const struct health *h, const struct health_bucket *sum, uint64_t bps,
		     unsigned window, double ber)
{
	double bits = (double)bps * MAX(sum->secs, window);

	return bps && sum->symbols >= h->rules.ber_least && sum->symbols > bits * ber;
}

static bool is_dropping(const struct health *h, const struct health_bucket *sum)
{
	double least = sum->packets;

	for (unsigned i = 0; i < h->rules.pdr_exponent; i++)
		least /= 10;
	return h->rules.pdr_exponent && sum->drops >= h->rules.ber_least && sum->drops > least;
}

/* A tick of XmitWait is taken for the time of four octets; a full window is looked at. */
static bool is_stalled(const struct health *h, const struct health_bucket *sum, uint64_t bps)
{
	double all = (double)bps / 32 * MAX(sum->secs, h->rules.ber_long);

	return h->rules.stall_percent && bps && sum->wait * 100.0 > all * h->rules.stall_percent;
}

static unsigned judge_port(const struct health *h, const struct health_port *p, int64_t now)
{
	unsigned brief = h->rules.ber_short, wide = h->rules.ber_long;
	int64_t s_no = now / width_of(brief, SHORT_BUCKETS);
	int64_t l_no = now / width_of(wide, LONG_BUCKETS);
	struct health_bucket s = sum_of(&p->brief, SHORT_BUCKETS, s_no),
			     l = sum_of(&p->wide, LONG_BUCKETS, l_no);
	unsigned ret = 0;

	if (is_noisy(h, &s, p->bps, brief, 1e-14) || is_noisy(h, &l, p->bps, wide, 1e-15))
		ret |= 1u << HEALTH_BER;
	if (is_dropping(h, &l))
		ret |= 1u << HEALTH_PDR;
	if (is_stalled(h, &l, p->bps))
		ret |= 1u << HEALTH_STALL;
	return ret;
}

/* ---- verdicts -------------------------------------------------------------------------------- */

static unsigned conditions(const struct health *h, const struct health_record *r, int64_t now)
{
	unsigned ret = r->manual ? 1u << HEALTH_MANUAL : 0;

	for (unsigned i = 0; i < HEALTH_EVENTS; i++) {
		unsigned n = h->rules.events[i].n;

		if (n && r->times[i].n >= n && events_in(h, r, i, now) >= n)
			ret |= 1u << i;
	}
	for (unsigned i = 0; i < 2; i++)
		ret |= r->port[i] ? judge_port(h, r->port[i], now) : 0;
	return ret;
}

bool health_judge(struct health *h, uint32_t link, int64_t now)
{
	struct health_record *r = &h->all[link];
	unsigned before = r->v.on;

	assert(link < h->n);
	r->v.now = conditions(h, r, now);
	if (r->v.now) {
		health_list(h, r);
		r->v.since = r->v.on ? r->v.since : now;
		r->v.last = now;
		r->v.on |= r->v.now;
	} else if (r->v.on && now - r->v.last >= (int64_t)h->rules.probation) {
		forget(r);
	}
	return r->v.on != before;
}

static const char *duration(unsigned s, char ret[24])
{
	if (s >= 2 * 86400 && s % 86400 == 0)
		snprintf(ret, 24, "%u days", s / 86400);
	else if (s >= 120 && s % 60 == 0)
		snprintf(ret, 24, "%u min", s / 60);
	else
		snprintf(ret, 24, "%u s", s);
	return ret;
}

static void event_why(const struct health *h, unsigned cond, char *ret, size_t cap)
{
	static const char *const words[HEALTH_EVENTS] = {
		[HEALTH_REBOOT] = "restarts of the node",
		[HEALTH_FLAPPING] = "times found in INIT again",
		[HEALTH_UNRESPONSIVE] = "times silent",
		[HEALTH_NOISY] = "traps 129 to 131",
		[HEALTH_SETERR] = "Sets refused",
		[HEALTH_ILLEGAL] = "answers that cannot be",
		[HEALTH_LINK_DOWN] = "link downs",
	};
	char time[24];

	if (h->rules.events[cond].sweeps)
		snprintf(ret, cap, "%u %s in %u sweeps", h->rules.events[cond].n, words[cond],
			 h->rules.events[cond].window);
	else
		snprintf(ret, cap, "%u %s in %s", h->rules.events[cond].n, words[cond],
			 duration(h->rules.events[cond].window, time));
}

static void cond_why(const struct health *h, unsigned cond, char *ret, size_t cap)
{
	switch (cond) {
	case HEALTH_BER:
		snprintf(ret, cap, "symbol errors above the bit error rate of a sound link");
		break;
	case HEALTH_PDR:
		snprintf(ret, cap, "more than 1 of 10^%u packets lost", h->rules.pdr_exponent);
		break;
	case HEALTH_MANUAL:
		snprintf(ret, cap, "called unhealthy in hm_ports_health_policy_file");
		break;
	case HEALTH_STALL:
		snprintf(ret, cap, "without credits more than %u%% of the time",
			 h->rules.stall_percent);
		break;
	default:
		event_why(h, cond, ret, cap);
	}
}

char *health_why(const struct health *h, uint32_t link, char ret[HEALTH_WHY_STRLEN])
{
	size_t len = 0;
	char one[80];

	assert(link < h->n);
	ret[0] = '\0';
	for (unsigned i = 0; i < HEALTH_CONDS && len < HEALTH_WHY_STRLEN; i++) {
		if (!(h->all[link].v.on & 1u << i))
			continue;
		cond_why(h, i, one, sizeof(one));
		len += (size_t)snprintf(ret + len, HEALTH_WHY_STRLEN - len, "%s%s", len ? "; " : "",
					one);
	}
	return ret;
}
