// SPDX-License-Identifier: BSD-2-Clause
/*
 * Descriptions of nodes, which are their names: asked when a node is met, when it says that it has
 * another, and in turn by light sweeps. At most one question per node is out.
 *
 * That is also how a host is noticed whose agent went silent while its link stays up: nothing else
 * asks hosts that did not change. It is told and shown, asked in every light sweep from then on,
 * and keeps its LID and its paths: data may well flow. When it answers, its port is read: it may
 * have been reset. The same for a host that was silent for a moment, just when something was to be
 * written to it: what it holds is written then. If it may have another M_Key than it was asked
 * with, the likely ones are tried in turn.
 */
#include <inttypes.h>
#include <string.h>

#include "sm/read/discover_internal.h"
#include "sm/base/about.h"
#include "sm/base/keys.h"
#include "sm/base/news.h"

static void take_desc(struct sm *sm, struct node *n, const uint8_t *payload)
{
	char before[NODE_DESC_STRLEN];
	struct delta d;

	memcpy(before, n->desc, sizeof(before));
	d = observe_description(n, payload);
	if ((d.kinds & DELTA(DELTA_NAME)) &&
	    log_allow(&sm->m.discover->name_log, sm->now, &(unsigned){ 0 }))
		log_on(about_node(LOG_ID_NONE, n), LOGB_INFO,
		       "'%s' (0x%016" PRIx64 ") is now called '%s'", before, n->guid, n->desc);
	tell_delta(sm, &d);
}

void discover_ask_desc_again(struct sm *sm, struct node *n)
{
	struct dr_path path;

	n->desc_again = false;
	for (unsigned i = node_is_switch(n) ? 0 : 1; i <= n->n_ports; i++) {
		if (fabric_port_path(sm->fabric, &n->ports[i], &path) == 0) {
			discover_ask_desc(sm, &n->ports[i], &path);
			return;
		}
	}
}

void discover_renew_desc(struct sm *sm, struct node *n)
{
	n->desc_again = n->desc_asked;
	if (!n->desc_asked)
		discover_ask_desc_again(sm, n);
}

/* The port with a cable; the first port if none has. */
static const struct port *cabled_port(const struct node *n)
{
	for (unsigned i = 1; i <= n->n_ports; i++) {
		if (n->ports[i].peer)
			return &n->ports[i];
	}
	return &n->ports[1];
}

void node_desc_say_silent(struct sm *sm, struct node *n)
{
	char others[LOG_OTHERS_STRLEN];
	unsigned more;

	/* A silence that was not logged, being one of too many, is not reported as ended either. */
	if (told_holds(&n->ports[1].logged, TOLD_SILENT) ||
	    !log_allow(&sm->m.discover->fault_log, sm->now, &more))
		return;
	told_first(&n->ports[1].logged, TOLD_SILENT);
	log_port(cabled_port(n), LOG_ID_SILENT, LOGB_ERROR,
		 "does not answer any more, its link is up; it keeps its LID and its paths until "
		 "more than %u heavy sweeps have missed it%s",
		 MAX_MISSES, log_others(more, others));
}

/* Notes an unanswered question. False: ask once more, as a question may get lost. */
static bool note_silence(struct sm *sm, struct node *n)
{
	if (node_is_switch(n) || n == sm->fabric->own || n->misses || node_is_mute(n))
		return true;
	if (++n->unanswered < NODE_MUTE_AFTER)
		return false;
	observe_shown(n);
	tell_news(sm, NEWS_HOST_SILENT, .flag = true);
	node_desc_say_silent(sm, n);
	return true;
}

static void say_again(struct sm *sm, struct node *n)
{
	char others[LOG_OTHERS_STRLEN];
	unsigned more;

	if (told_change(&n->ports[1].logged, TOLD_SILENT, false) == TOLD_ENDS &&
	    log_allow(&sm->m.discover->fault_log, sm->now, &more))
		log_node(n, LOG_ID_SILENT, LOGB_INFO, "answers again%s", log_others(more, others));
}

void node_desc_heard(struct sm *sm, struct node *n)
{
	bool was_mute = node_is_mute(n);

	if (was_mute)
		observe_shown(n);
	n->unanswered = 0;
	if (!was_mute && (!n->sync.passed_over || node_is_switch(n)))
		return;
	if (was_mute) {
		tell_news(sm, NEWS_HOST_SILENT, .flag = false);
		say_again(sm, n);
	}
	for (unsigned i = 1; i <= n->n_ports; i++) {
		if (n->ports[i].peer)
			tell_port(sm, &n->ports[i], "a silent host answers again");
	}
}

void node_desc_met(struct sm *sm, struct node *n)
{
	if (n->misses && !node_is_switch(n))
		say_again(sm, n);
	node_desc_heard(sm, n);
	if (n->misses)
		observe_shown(n);
	n->misses = 0;
}

static void on_node_desc(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;
	struct port *p = r->arg;
	struct node *n = p->node;

	sm->m.discover->descs_pending--;
	sm->m.discover->last_end = sm->now;
	n->desc_asked = false;
	if (r->end == MAD_END_ANSWERED || r->end == MAD_END_BAD_STATUS)
		node_desc_heard(sm, n);
	if (r->end == MAD_END_ANSWERED)
		take_desc(sm, n, r->payload);
	if (mad_doubts_key(r))
		keys_doubt(sm, p, r->m_key);
	if (r->end == MAD_END_TIMEOUT && sm->state == SM_MASTER)
		n->desc_again |= !note_silence(sm, n);
	if (n->desc_again && r->end != MAD_END_CANCELLED)
		discover_ask_desc_again(sm, n);
}

/*
 * Asks for the description. At most one question per node is under way; only the sweep that met the
 * node waits for it.
 */
void discover_ask_desc(struct sm *sm, struct port *p, const struct dr_path *path)
{
	const struct mad_request rq = {
		.method = MAD_GET,
		.attr = IB_ATTR_NODE_DESC,
		.path = path,
		.m_key = port_of_sma(p)->m_key,
		.target = &p->node->target,
	};

	if (p->node->desc_asked)
		return;
	p->node->desc_asked = true;
	sm->m.discover->descs_pending++;
	mad_submit(sm->mad, &rq, on_node_desc, sm, p);
}

void discover_desc_changed(struct sm *sm, struct port *p)
{
	struct dr_path path;

	p->node->desc_again |= p->node->desc_asked;
	if (fabric_port_path(sm->fabric, p, &path) == 0)
		discover_ask_desc(sm, p, &path);
}
