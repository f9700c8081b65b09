// SPDX-License-Identifier: BSD-2-Clause
/* What an answer tells, and which questions it leads to. */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "perf/perf_internal.h"
#include "util/log.h"
#include "util/mem.h"

/* Lines about errors that grew, for one sweep. */
#define LOGGED_MAX   50
/* Questions for the reasons of errors, for one sweep. */
#define DETAILS_MAX  1000

uint32_t perf_readings(struct perf_entry *e, uint8_t port, bool is_fast)
{
	const struct perf_caps *caps = perf_caps_of(e, port);
	uint32_t steps = perf_has_wide(caps) ? 0 : STEP(STEP_BASIC);

	if (perf_has_extended(caps))
		steps |= STEP(STEP_EXTENDED);
	if (is_fast && caps->known && e->past[port].misses[PERF_OPT_FEC] < PERF_OPT_MISSES)
		steps |= STEP(STEP_FEC);
	return steps;
}

/* How often the link at this port went, or trained anew, as far as the manager saw it. */
static uint32_t lives_of(const struct perf_place *place, guid_t node, uint8_t port)
{
	const struct node *n = fabric_find_node(place->fabric, node);
	const struct port *p = n && port <= n->n_ports ? &n->ports[port] : NULL;

	if (!p)
		return 0;
	return (uint32_t)p->lives << 16 | (p->peer ? p->peer->lives : 0);
}

/*
 * `fall_is_known`: the manager saw that the link went down or trained anew, or did that itself, and
 * has logged it.
 */
static void log_errors(struct perf *p, const struct perf_node *n, uint8_t port,
		       const uint64_t grew[PERF_ERRORS], bool fall_is_known, int64_t seconds)
{
	char text[600];
	size_t len = 0;

	for (unsigned i = 0; i < PERF_ERRORS; i++) {
		bool shown = grew[i] && p->conf->perfmgr_log_errors &&
			     !(fall_is_known && (i == PERF_LINK_DOWNED || i == PERF_LINK_RECOVER));

		if (i == PERF_XMIT_WAIT)
			shown = p->conf->perfmgr_xmit_wait_log &&
				grew[i] >= p->conf->perfmgr_xmit_wait_threshold;
		if (shown && len < sizeof(text))
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s +%" PRIu64,
						len ? ", " : "", perf_error_name(i), grew[i]);
	}
	if (len && p->logged++ < LOGGED_MAX)
		log_on(ABOUT(.node_guid = n->guid, .name = n->name, .port = port), LOGB_INFO,
		       "'%s' port %u (0x%016" PRIx64 "): errors counted in %" PRId64 " s: %s",
		       n->name, port, n->guid, seconds, text);
	else if (len)
		p->not_logged++;
}

/* The reasons are asked for where what they explain grew. */
static void want_details(struct perf *p, struct perf_slot *s, const uint64_t grew[PERF_ERRORS])
{
	static const struct {
		enum perf_error of;
		enum perf_optional option;
		enum perf_step step;
	} rows[] = {
		{ PERF_RCV, PERF_OPT_RCV, STEP_RCV_DETAILS },
		{ PERF_XMIT_DISCARDS, PERF_OPT_XMIT, STEP_XMIT_DETAILS },
	};
	const struct perf_past *past = &s->visit.entry->past[s->visit.port];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (grew[rows[i].of] && past->misses[rows[i].option] < PERF_OPT_MISSES &&
		    p->details < DETAILS_MAX) {
			s->todo |= STEP(rows[i].step);
			p->details++;
		}
}

static void take_errors(struct perf *p, struct perf_slot *s, const uint64_t now[PERF_ERRORS],
			bool wide, const struct perf_place *place)
{
	struct perf_entry *e = s->visit.entry;
	uint8_t port = s->visit.port;
	int64_t seconds = place->realtime - e->ports[port].errors_at;
	struct perf_past *past = &e->past[port];
	uint32_t lives = lives_of(place, e->node.guid, port);
	bool fall_is_known = lives != past->lives;
	uint64_t grew[PERF_ERRORS];

	past->lives = lives;
	s->read_at = place->now;
	perf_grow_errors(e, port, now, wide, &s->counts);
	if (!perf_add_errors(e, port, now, place->realtime, grew) || !perf_any_error(grew))
		return;
	want_details(p, s, grew);
	log_errors(p, &e->node, port, grew, fall_is_known, seconds);
	if (p->hooks.errors)
		p->hooks.errors(p->hooks.arg, &e->node, port, grew, seconds);
}

static void take_data(struct perf *p, struct perf_slot *s, const uint64_t now[PERF_DATA],
		      const struct perf_place *place)
{
	struct perf_entry *e = s->visit.entry;
	uint8_t port = s->visit.port;
	int64_t seconds = place->realtime - e->ports[port].data_at;
	uint64_t grew[PERF_DATA];

	perf_grow_data(e, port, now, &s->counts);
	if (perf_add_data(e, port, now, place->realtime, grew) && p->hooks.data)
		p->hooks.data(p->hooks.arg, &e->node, port, grew, seconds);
}

/* Other counters than were read before: their lead is not growth since the last reading. */
static void note_widths(struct perf_slot *s)
{
	struct perf_entry *e = s->visit.entry;
	const struct perf_caps *caps = perf_caps_of(e, s->visit.port);
	struct perf_port *port = &e->ports[s->visit.port];

	if (port->extended != perf_has_extended(caps))
		e->past[s->visit.port].has_data = false;
	if (port->wide != perf_has_wide(caps))
		e->past[s->visit.port].has_errors = false;
	port->extended = perf_has_extended(caps);
	port->wide = perf_has_wide(caps);
}

static void take_basic(struct perf *p, struct perf_slot *s, const uint8_t *attr,
		       const struct perf_place *place)
{
	struct perf_entry *e = s->visit.entry;
	const struct perf_caps *caps = perf_caps_of(e, s->visit.port);
	uint64_t errors[PERF_ERRORS], data[PERF_DATA];

	perf_decode_basic(attr, perf_has_xmit_wait(caps), errors, data);
	take_errors(p, s, errors, false, place);
	if (!perf_has_extended(caps))
		take_data(p, s, data, place);
	s->full = perf_nearly_full(errors, data, perf_has_extended(caps));
	if (s->full)
		s->todo |= STEP(STEP_CLEAR);
}

static void take_extended(struct perf *p, struct perf_slot *s, const uint8_t *attr,
			  const struct perf_place *place)
{
	const struct perf_caps *caps = perf_caps_of(s->visit.entry, s->visit.port);
	uint64_t errors[PERF_ERRORS], data[PERF_DATA];

	if (perf_has_wide(caps)) {
		perf_decode_wide(attr, perf_has_xmit_wait(caps), errors);
		take_errors(p, s, errors, true, place);
	}
	perf_decode_extended(attr, caps->mask & PM_CAP_EXT_WIDTH, data);
	take_data(p, s, data, place);
}

static void take_fec(struct perf_slot *s, struct perf_past *past, const uint8_t *attr)
{
	const struct perf_caps *caps = perf_caps_of(s->visit.entry, s->visit.port);
	const struct perf_fec fec = perf_decode_fec(attr, caps->mask & PM_CAP_RS_FEC);

	past->misses[PERF_OPT_FEC] = 0;
	perf_grow_fec(past, &fec, &s->counts);
	if (fec.nearly_full)
		s->todo |= STEP(STEP_CLEAR_FEC);
}

static void take_details(struct perf_past *past, enum perf_step step, const uint8_t *attr)
{
	bool is_rcv = step == STEP_RCV_DETAILS;

	past->misses[is_rcv ? PERF_OPT_RCV : PERF_OPT_XMIT] = 0;
	past->has_details[!is_rcv] = true;
	if (is_rcv)
		perf_decode_details(attr, PERF_RCV_DETAILS, past->details);
	else
		perf_decode_details(attr, PERF_XMIT_DETAILS, past->details + PERF_RCV_DETAILS);
}

void perf_take_answer(struct perf *p, struct perf_slot *s, const uint8_t *attr,
		      const struct perf_place *place)
{
	struct perf_past *past = &s->visit.entry->past[s->visit.port];
	enum perf_step step = perf_step_of(s);

	s->todo &= ~STEP(step);
	switch (step) {
	case STEP_CAPS:
		*perf_caps_of(s->visit.entry, s->visit.port) = perf_decode_caps(attr);
		s->todo = perf_readings(s->visit.entry, s->visit.port, s->visit.is_fast);
		break;
	case STEP_BASIC:
		note_widths(s);
		take_basic(p, s, attr, place);
		break;
	case STEP_EXTENDED:
		note_widths(s);
		take_extended(p, s, attr, place);
		break;
	case STEP_FEC:
		take_fec(s, past, attr);
		break;
	case STEP_RCV_DETAILS:
	case STEP_XMIT_DETAILS:
		take_details(past, step, attr);
		break;
	case STEP_CLEAR:
		perf_was_cleared(s->visit.entry, s->visit.port, s->full);
		break;
	case STEP_CLEAR_FEC:
		past->fec = (struct perf_fec){ 0 };
		break;
	case STEPS:
		break;
	}
}

static void take_no_option(struct perf_slot *s, enum perf_optional option, bool refused)
{
	uint8_t *misses = &s->visit.entry->past[s->visit.port].misses[option];

	*misses = refused ? PERF_OPT_MISSES : (uint8_t)MIN(*misses + 1, PERF_OPT_MISSES);
}

void perf_take_no_answer(struct perf_slot *s, bool refused)
{
	enum perf_step step = perf_step_of(s);
	struct perf_entry *e = s->visit.entry;

	s->todo &= ~STEP(step);
	switch (step) {
	case STEP_CAPS:
		/* A refusal is an answer too: the port has only what every port has. */
		if (refused)
			*perf_caps_of(e, s->visit.port) = (struct perf_caps){ .known = true };
		s->todo = refused ? perf_readings(e, s->visit.port, false) : 0;
		break;
	case STEP_FEC:
		take_no_option(s, PERF_OPT_FEC, refused);
		break;
	case STEP_RCV_DETAILS:
		take_no_option(s, PERF_OPT_RCV, refused);
		break;
	case STEP_XMIT_DETAILS:
		take_no_option(s, PERF_OPT_XMIT, refused);
		break;
	case STEP_BASIC:
	case STEP_EXTENDED:
		s->todo = 0;
		break;
	case STEP_CLEAR:
	case STEP_CLEAR_FEC:
	case STEPS:
		break;
	}
}

void perf_visit_end(struct perf *p, struct perf_slot *s)
{
	struct perf_entry *e = s->visit.entry;

	if (!s->read_at || !perf_grow_end(&e->past[s->visit.port], &s->counts, s->read_at))
		return;
	if (s->counts.reset) {
		p->status.resets++;
		p->reset++;
	}
	if (p->hooks.counts)
		p->hooks.counts(p->hooks.arg, &e->node, s->visit.port, &s->counts);
}
