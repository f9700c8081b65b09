// SPDX-License-Identifier: BSD-2-Clause
/*
 * Counts senders of answers that nothing has asked for, and logs the sender. The source LID of the
 * packet, which hardware fills in, tells the port. A directed route has no such LID, and its path
 * in the answer is whatever the sender wrote: all of these count as one sender, and the log says
 * that the path is a claim.
 */
#include "sm/trust/forgery.h"

#include <stdio.h>
#include <string.h>

#include "ib/words.h"
#include "sm/base/about.h"
#include "sm/base/events.h"
#include "sm/trust/senders.h"
#include "util/mem.h"

struct forgery {
	struct senders senders;
	struct log_limit line_log, event_log;
};
MACHINE_MEMORY_WITH(forgery, .senders.window = FORGERY_WINDOW,
		    .line_log = { .interval = 10 * MONO_S, .burst = 5 },
		    .event_log = { .interval = 60 * MONO_S, .burst = 10 });

/* ---- the sender ------------------------------------------------------------------------------ */

static bool is_directed(const uint8_t *mad)
{
	return ib_get(mad, SMP_CLASS) == MAD_CLASS_SMI_DR;
}

static struct dr_path path_of(const uint8_t *mad)
{
	struct dr_path path = { .length = MIN(ib_get(mad, SMP_HOP_COUNT), IB_MAX_HOPS) };

	memcpy(path.hop + 1, mad + SMP_INITIAL_PATH + 1, path.length);
	return path;
}

/* The end port of the source LID; NULL: a directed route, whose path is only a claim. */
static const struct port *port_of_sender(const struct sm *sm, const struct transport_addr *from,
					 const uint8_t *mad)
{
	return is_directed(mad) ? NULL : lids_port_at(sm, from->lid);
}

/* A number for the sender, never 0. */
static uint64_t sender_id(const struct sm *sm, const struct transport_addr *from,
			  const uint8_t *mad)
{
	const struct port *p = port_of_sender(sm, from, mad);

	if (p && p->guid)
		return p->guid;
	return is_directed(mad) ? LID_PERMISSIVE : from->lid + 1ull;
}

/* Describes the sender by port and directed route, so that an administrator finds it. */
#define SENDER_STRLEN (PLACE_STRLEN + DR_PATH_STRLEN)
static char *describe_sender(const struct sm *sm, const struct transport_addr *from,
			     const uint8_t *mad, char ret[SENDER_STRLEN])
{
	const struct port *p = port_of_sender(sm, from, mad);
	char place[PLACE_STRLEN], hops[DR_PATH_STRLEN];
	struct dr_path path = path_of(mad);

	if (p)
		snprintf(ret, SENDER_STRLEN, "%s", fabric_place_str(p, place));
	else if (is_directed(mad))
		snprintf(ret, SENDER_STRLEN, "a sender that claims directed route %s",
			 dr_path_str(&path, hops));
	else
		snprintf(ret, SENDER_STRLEN, "LID %u, which no known port has", from->lid);
	return ret;
}

/* ---- records --------------------------------------------------------------------------------- */

static const char *words_of(enum mad_stray why)
{
	static const char *const words[MAD_STRAYS] = {
		[MAD_STRAY_LATE] = "comes late",
		[MAD_STRAY_UNASKED] = "answers no question",
		[MAD_STRAY_ELSEWHERE] = "answers a question that another port was asked",
		[MAD_STRAY_MISMATCHED] = "answers another question than was asked",
	};

	return words[why];
}

static void log_line(struct sm *sm, enum mad_stray why, const struct transport_addr *from,
		     const uint8_t *mad)
{
	char sender[SENDER_STRLEN], method[IB_WORD_STRLEN], attr[IB_WORD_STRLEN];
	bool is_sa = ib_get(mad, SMP_CLASS) == MAD_CLASS_SA;
	unsigned more;

	if (!log_wants(LOGB_VERBOSE) || !log_allow(&sm->m.forgery->line_log, sm->now, &more))
		return;
	log_verbose(
		"%s: its %s %s %s; ignored (and %u others)", describe_sender(sm, from, mad, sender),
		ib_method_words((unsigned)ib_get(mad, SMP_METHOD), method),
		(is_sa ? sa_attr_words : ib_attr_words)((uint16_t)ib_get(mad, SMP_ATTR_ID), attr),
		words_of(why), more);
}

static void log_event(struct sm *sm, const struct sender *s, enum mad_stray why,
		      const struct transport_addr *from, const uint8_t *mad)
{
	const struct port *p = port_of_sender(sm, from, mad);
	struct log_about about = about_port(LOG_ID_ANSWERS_FORGED, p);
	char sender[SENDER_STRLEN], text[SENDER_STRLEN + 240];

	if (!log_allow(&sm->m.forgery->event_log, sm->now, &(unsigned){ 0 }))
		return;
	if (!p)
		about.lid = from->lid;
	snprintf(text, sizeof(text),
		 "%s: sent %u answers in %d s that it was not asked for (the last one %s); all "
		 "were ignored%s",
		 describe_sender(sm, from, mad, sender), s->n, (int)((sm->now - s->since) / MONO_S),
		 words_of(why),
		 is_directed(mad) ? "; the route is the sender's word, it may be another host"
				  : "");
	log_on(about, LOGB_ERROR, "%s", text);
	event_security(sm, "answers", p ? p->guid : 0, from->lid, text);
}

void forgery_arrived(void *owner, enum mad_stray why, const struct transport_addr *from,
		     const uint8_t *mad, mono_t now)
{
	struct sm *sm = owner;
	struct sender *s;

	sm->now = now;
	s = senders_count(&sm->m.forgery->senders, sender_id(sm, from, mad), now);
	log_line(sm, why, from, mad);
	if (s->n < FORGERY_MANY || (s->told && now - s->told < FORGERY_QUIET))
		return;
	s->told = now;
	log_event(sm, s, why, from, mad);
}
