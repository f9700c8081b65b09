// SPDX-License-Identifier: BSD-2-Clause
/*
 * Nodes that do not answer while a sweep reads, and how long it waits for them.
 *
 *   was silent before       an incremental sweep asks it once, and does not wait
 *   was never met           a sweep that waits for nothing else goes on after transaction_timeout.
 *                           The question stays out with its further tries beside the sweep; if it
 *                           is answered, an incremental sweep reads the port
 *   was met before          the sweep waits for all tries: a node that is missed is on the way to
 *                           be forgotten, and switches are written without it
 *
 * Not waiting must cost nothing but a second, small sweep. So a sweep waits for all tries where it
 * may conclude something from silence: before an election, unless no switch has a LID, as what is
 * silent may be the master, or hold a LID that is given to another; while any node or end port that
 * is known has not been met, which may be the one that is slow to answer at a new place; and where
 * each port has an M_Key of its own, as the right one is found by waiting.
 *
 * All tries are one round of them, where only nodes that were never met are waited for: the second
 * round is for a fabric that loses much, in which others would be late, too.
 */
#include "sm/read/discover_internal.h"

#include "health/judge.h"
#include "ib/words.h"
#include "sm/base/about.h"
#include "sm/base/keys.h"
#include "sm/base/news.h"

/* ---- log ------------------------------------------------------------------------------------ */

/*
 * Counts a fault. A node that takes part but leaves questions unanswered makes the sweep fail, a
 * few times; a silent node behind a port only causes another sweep soon.
 */
void discover_note_fault(struct sm *sm, const char *what, struct port *p,
			 const struct mad_result *r)
{
	struct log_about about = about_port(LOG_ID_SILENT, p);
	char where[PLACE_STRLEN], attr[IB_WORD_STRLEN], status[IB_WORD_STRLEN];
	unsigned suppressed;

	if (r->end == MAD_END_TIMEOUT && r->attr != IB_ATTR_NODE_INFO)
		tell_news(sm, NEWS_BAD_ANSWER, .port = p, .number = HEALTH_UNRESPONSIVE);
	if (r->attr != IB_ATTR_NODE_INFO && p->node->target.failures < SILENT_AFTER) {
		tell_faults(sm, 1);
		tell_news(sm, NEWS_SOFT_FAULT);
	}
	if (!log_allow(&sm->m.discover->fault_log, sm->now, &suppressed))
		return;
	if (suppressed)
		log_error("%u similar records were left out", suppressed);
	about.method = "Get";
	about.attr = ib_attr_words(r->attr, attr);
	about.status = mad_status_words(r->status, status);
	if (r->end == MAD_END_BAD_STATUS)
		log_on(about, LOGB_ERROR, "%s: %s %s is answered with status %s",
		       fabric_place_str(p, where), what, attr, status);
	else
		log_on(about, LOGB_ERROR, "%s: %s %s is not answered%s", fabric_place_str(p, where),
		       what, attr,
		       r->attr == IB_ATTR_PORT_INFO || r->attr == IB_ATTR_NODE_INFO
			       ? " (M_Key not known here?)"
			       : "");
}

void discover_found_silent(struct sm *sm, struct port *p)
{
	if (observe_silence(p, true) && p->node->target.failures < SILENT_AFTER)
		tell_news(sm, NEWS_SOFT_FAULT);
}

void discover_say_silent(struct sm *sm, struct port *p, const struct mad_result *r)
{
	if (r->end == MAD_END_TIMEOUT)
		tell_news(sm, NEWS_BAD_ANSWER, .port = p, .number = HEALTH_UNRESPONSIVE,
			  .flag = true);
	if (told_first(&p->logged, TOLD_SILENT_BEHIND))
		discover_note_fault(sm, "node behind the port: Get", p, r);
}

void discover_heard_behind(struct sm *sm, struct port *p)
{
	p->inc.heard = true;
	tell_port(sm, p, "a silent node answers");
}

/* ---- nodes that were silent before ---------------------------------------------------------- */

static void on_silent_again(void *owner, const struct mad_result *r)
{
	if (r->end == MAD_END_ANSWERED)
		discover_heard_behind(owner, r->arg);
}

/*
 * Asks a silent port once; only with one M_Key for all, as otherwise waiting finds the right key.
 */
bool discover_asks_silent(struct sm *sm, struct port *p)
{
	struct dr_path path;
	struct mad_request rq;

	if (!sm->m.discover->partial || !p->silent || p->inc.heard || p->peer ||
	    keys_are_single(sm) || sm->m.discover->ask.is_hidden(sm, p) ||
	    !discover_probe_is(sm, p, &path, &rq))
		return false;
	if (!fabric_is_probed(p)) /* no probe is under way or queued */
		mad_submit(sm->mad, &rq, on_silent_again, sm, p);
	return true;
}

/* ---- nodes that were never met -------------------------------------------------------------- */

/*
 * Is no switch set up, so that no manager was here since power came on? A single switch without a
 * LID may have lost power and been written since.
 */
bool discover_is_cold(const struct sm *sm)
{
	FABRIC_EACH_NODE(sm->fabric, n) {
		if (node_is_switch(n) && (!n->ports[0].known || ib_get(n->ports[0].info, PI_LID)))
			return false;
	}
	return true;
}

/*
 * The number of questions under way to nodes that were never met; 0 also if one is to our
 * neighbour.
 */
static unsigned n_strange(const struct sm *sm)
{
	unsigned n = 0;

	FABRIC_EACH_NODE(sm->fabric, node) {
		for (unsigned i = 1; i <= node->n_ports; i++) {
			const struct port *p = &node->ports[i];

			if (p->probes && p == sm->fabric->own_port)
				return 0;
			if (p->probes && !p->late && !p->peer)
				n += p->probes;
		}
	}
	return n;
}

/* Is it a host's port that would be removed? */
static bool is_missed(const struct sm *sm, const struct port *p)
{
	return p->known && p != sm->fabric->own_port && (!p->peer || p->seen != sm->sweep_no);
}

static bool is_any_missed(const struct sm *sm)
{
	FABRIC_EACH_NODE(sm->fabric, n) {
		if (n->seen != sm->sweep_no)
			return true;
		for (unsigned i = 1; !node_is_switch(n) && !n->misses && i <= n->n_ports; i++)
			if (is_missed(sm, &n->ports[i]))
				return true;
	}
	return false;
}

static bool waits_for_strangers(const struct sm *sm)
{
	const struct discover *d = sm->m.discover;

	return !d->descs_pending && !keys_are_single(sm) && n_strange(sm) == d->pending;
}

bool discover_is_late_stranger(const struct sm *sm, const struct port *p)
{
	return !p->peer && p != sm->fabric->own_port && waits_for_strangers(sm);
}

static bool may_go_on(const struct sm *sm)
{
	if ((sm->sweep != SWEEP_HEAVY && sm->sweep != SWEEP_INCREMENTAL) || !sm->fabric->n_switches)
		return false;
	if (!(sm->state == SM_MASTER && sm->first_sweep_done) && !discover_is_cold(sm))
		return false;
	return waits_for_strangers(sm) && !is_any_missed(sm);
}

static void go_on_without(struct sm *sm, struct port *p)
{
	if (!p->probes || p->late || p->peer)
		return;
	sm->m.discover->pending -= p->probes;
	p->late = true;
	discover_found_silent(sm, p);
	log_port(p, LOG_ID_NONE, LOGB_VERBOSE,
		 "the node behind it has not answered yet; the sweep goes on without it");
}

/*
 * Ends waits; called after MADs were handled, as answers may have queued while this process stood
 * still.
 */
void discover_serve(struct sm *sm)
{
	const struct discover *d = sm->m.discover;
	mono_t timeout = (mono_t)sm->conf->transaction_timeout * MONO_MS;

	if (!d->pending || sm->now < d->last_end + timeout || !may_go_on(sm))
		return;
	FABRIC_EACH_NODE(sm->fabric, n) {
		for (unsigned i = 1; i <= n->n_ports; i++)
			go_on_without(sm, &n->ports[i]);
	}
}

mono_t discover_next(const struct sm *sm)
{
	const struct discover *d = sm->m.discover;
	mono_t at = d->last_end + (mono_t)sm->conf->transaction_timeout * MONO_MS;

	return d->pending && sm->now < at ? at : MONO_NEVER;
}

bool discover_ended_late(struct sm *sm, struct port *p, const struct mad_result *r)
{
	bool late = p->late;

	p->late = --p->probes && late;
	if (!late || r->end == MAD_END_CANCELLED)
		return late;
	if (r->end == MAD_END_ANSWERED) {
		discover_cancel_probes(sm, p); /* probes of the same node with other keys */
		discover_heard_behind(sm, p);
	} else if (p->silent) { /* not met from elsewhere, and its link has not gone down */
		discover_say_silent(sm, p, r);
	}
	return true;
}

void discover_drop_late(struct sm *sm, struct port *p)
{
	if (p->late)
		discover_cancel_probes(sm, p);
}
