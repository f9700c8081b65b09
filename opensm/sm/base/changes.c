// SPDX-License-Identifier: BSD-2-Clause
/* Nodes are named when they are noted, as they may be gone by the end; links when it is written. */
#include "sm/base/changes.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "sm/base/about.h"
#include "util/log_flood.h"
#include "util/mem.h"

/* Number of records of each kind about one sweep; what is more is counted. */
#define LISTED 8u
/* Number of links, and of nodes, that one sweep has noted; what is more is counted. */
#define NOTED  256u
/* Number of links and nodes of which it is known since when they are away. */
#define AWAY   128u

struct link_change {
	guid_t node[2];
	uint8_t port[2];
	bool was_up, is_up;
};

struct node_change {
	guid_t guid;
	bool came, is_switch;
	char desc[NODE_DESC_STRLEN]; /* "h7" */
	char name[NODE_STRLEN];	     /* "'h7' (0x...)" */
	char place[PORT_STRLEN];     /* "'leaf1' port 3", where a host is or was; "": not known */
};

/* A node (`port` 0) or one end of a link that is away. */
struct away {
	guid_t node;
	uint8_t port;
	bool out_of_use; /* set if it was out of use when it went: its return is no news */
	mono_t since;
};

struct changes {
	struct link_change links[NOTED];
	struct node_change nodes[NOTED];
	unsigned n_links, n_nodes; /* may be more than are noted */
	struct away away[AWAY];	   /* a ring; `node` 0: free */
	unsigned next_away;
	bool has_picture; /* set if the fabric was read before */
};
MACHINE_MEMORY(changes);

/* ---- what is away ---------------------------------------------------------------------------- */

static void note_away(struct sm *sm, guid_t node, unsigned port, bool out_of_use)
{
	struct changes *c = sm->m.changes;

	c->away[c->next_away++ % AWAY] = (struct away){
		.node = node, .port = (uint8_t)port, .out_of_use = out_of_use, .since = sm->now
	};
}

/* Is this a link whose return is no news? It is not away any more. */
static bool returns_silently(struct changes *c, guid_t node, unsigned port)
{
	bool is_silent = false;

	for (unsigned i = 0; i < AWAY; i++) {
		struct away *a = &c->away[i];

		if (a->node != node || a->port != port || !a->out_of_use)
			continue;
		a->node = 0;
		is_silent = true;
	}
	return is_silent;
}

/* " after 10 min" if it is known since when this was away; else "". It is not any more. */
#define AFTER_STRLEN (LOG_SPAN_STRLEN + 8)
static const char *after_str(struct sm *sm, guid_t node, unsigned port, char ret[AFTER_STRLEN])
{
	char span[LOG_SPAN_STRLEN];

	ret[0] = '\0';
	for (unsigned i = 0; i < AWAY; i++) {
		struct away *a = &sm->m.changes->away[i];

		if (a->node != node || a->port != port)
			continue;
		log_span_str((unsigned)((sm->now - a->since) / MONO_S), span);
		snprintf(ret, AFTER_STRLEN, " after %s", span);
		a->node = 0;
	}
	return ret;
}

/* ---- noting ---------------------------------------------------------------------------------- */

static bool is_end(const struct link_change *l, unsigned i, guid_t node, unsigned port)
{
	return l->node[i] == node && l->port[i] == port;
}

/* The note of a link, or a new one; NULL: there is no room. */
static struct link_change *link_noted(struct changes *c, const struct link_change *link)
{
	unsigned n = MIN(c->n_links, NOTED);

	for (unsigned i = 0; i < n; i++) {
		struct link_change *l = &c->links[i];

		for (unsigned end = 0; end < 2; end++)
			if (is_end(l, end, link->node[0], link->port[0]) &&
			    is_end(l, !end, link->node[1], link->port[1]))
				return l;
	}
	if (c->n_links++ >= NOTED)
		return NULL;
	c->links[n] = *link;
	return &c->links[n];
}

static bool is_noted(const struct sm *sm)
{
	return sm->m.changes->has_picture && sm->state == SM_MASTER;
}

/* Is the link out of use, or was it when it went? Then it was logged why. */
static bool is_no_news(struct sm *sm, const struct port *p, const struct link_change *l, bool up)
{
	struct changes *c = sm->m.changes;
	bool is_silent = false;

	for (unsigned i = 0; up && i < 2; i++)
		is_silent |= returns_silently(c, l->node[i], l->port[i]);
	if (!p->out.avoided && !p->out.held)
		return is_silent;
	for (unsigned i = 0; !up && i < 2; i++)
		note_away(sm, l->node[i], l->port[i], true);
	return true;
}

void changes_link(struct sm *sm, const struct port *p, guid_t far, unsigned far_port, bool up)
{
	struct link_change *l, link = {
		.node = { p->node->guid, far },
		.port = { p->num, (uint8_t)far_port },
		.was_up = !up,
	};

	if (!is_noted(sm) || is_no_news(sm, p, &link, up))
		return;
	l = link_noted(sm->m.changes, &link);
	if (l)
		l->is_up = up;
}

/* The switch port that a cable of the node leads to, or led to; NULL: none is known. */
static const struct port *place_of(const struct sm *sm, const struct node *n)
{
	for (unsigned i = 1; i <= n->n_ports; i++) {
		const struct port *p = &n->ports[i];
		const struct node *sw =
			p->met_guid ? fabric_find_node(sm->fabric, p->met_guid) : NULL;

		if (sw && node_is_switch(sw) && p->met_port <= sw->n_ports)
			return &sw->ports[p->met_port];
	}
	return NULL;
}

/*
 * Was the node isolated, or the port or switch that it is behind? Then it goes for a moment while
 * links are taken down, and its return is no news either.
 */
static bool goes_silently(struct sm *sm, const struct node *n, const struct port *at)
{
	bool is_out = at && (at->out.avoided || at->out.held || at->node->isolated);

	if (!n->isolated && (node_is_switch(n) || !is_out))
		return false;
	note_away(sm, n->guid, 0, true);
	return true;
}

static void note_node(struct sm *sm, const struct node *n, bool came)
{
	struct changes *c = sm->m.changes;
	const struct port *at = place_of(sm, n);
	struct node_change *change;

	if (!is_noted(sm) || (came ? returns_silently(c, n->guid, 0) : goes_silently(sm, n, at)) ||
	    c->n_nodes++ >= NOTED)
		return;
	change = &c->nodes[c->n_nodes - 1];
	*change = (struct node_change){ .guid = n->guid,
					.came = came,
					.is_switch = node_is_switch(n) };
	fabric_node_str(n, change->name);
	snprintf(change->desc, sizeof(change->desc), "%s", node_name(n));
	if (!change->is_switch && at)
		snprintf(change->place, sizeof(change->place), "'%.64s' port %u",
			 node_name(at->node), at->num);
}

void changes_node_went(struct sm *sm, const struct node *n)
{
	note_node(sm, n, false);
}

void changes_node_came(struct sm *sm, const struct node *n)
{
	note_node(sm, n, true);
}

/* ---- records --------------------------------------------------------------------------------- */

/* Did this node go or come, and its links with it? */
static bool is_of_node(const struct changes *c, const struct link_change *l)
{
	for (unsigned i = 0; i < MIN(c->n_nodes, NOTED); i++)
		if (c->nodes[i].guid == l->node[0] || c->nodes[i].guid == l->node[1])
			return true;
	return c->n_nodes > NOTED;
}

static void write_node(struct sm *sm, const struct node_change *n)
{
	const char *at = n->place[0] ? (n->came ? ", behind " : "; it was behind ") : "";
	char after[AFTER_STRLEN];
	struct log_about about = ABOUT(.id = n->came ? LOG_ID_NODE_CAME : LOG_ID_NODE_GONE,
				       .node_guid = n->guid, .name = n->desc);

	if (n->came) {
		after_str(sm, n->guid, 0, after);
		log_on(about, LOGB_INFO, "%s%s %s%s%s%s", n->is_switch ? "switch " : "", n->name,
		       after[0] ? "is back" : "is new in the fabric", after, at, n->place);
		return;
	}
	note_away(sm, n->guid, 0, false);
	log_on(about, n->is_switch ? LOGB_ERROR : LOGB_INFO, "%s%s is gone%s%s",
	       n->is_switch ? "switch " : "", n->name, at, n->place);
}

static void write_nodes(struct sm *sm, bool came)
{
	struct changes *c = sm->m.changes;
	unsigned n = 0;

	for (unsigned i = 0; i < MIN(c->n_nodes, NOTED); i++) {
		if (c->nodes[i].came != came)
			continue;
		if (n++ < LISTED)
			write_node(sm, &c->nodes[i]);
		else if (!came)
			note_away(sm, c->nodes[i].guid, 0, false);
	}
	n += c->n_nodes > NOTED ? c->n_nodes - NOTED : 0;
	if (n > LISTED)
		log_on(ABOUT(.id = came ? LOG_ID_NODE_CAME : LOG_ID_NODE_GONE), LOGB_INFO,
		       "%u more nodes %s at the same time", n - LISTED, came ? "came" : "are gone");
}

/* Writes the record on a link that was noted; its end 0 is at `p`. */
static void write_link(struct sm *sm, const struct link_change *l, const struct port *p)
{
	const struct node *far = fabric_find_node(sm->fabric, l->node[1]);
	char here[PORT_STRLEN], there[PORT_STRLEN] = "a port that is gone", after[AFTER_STRLEN];
	bool is_trunk = node_is_switch(p->node) && far && node_is_switch(far);

	fabric_port_str(p, here);
	if (far && l->port[1] <= far->n_ports)
		fabric_port_str(&far->ports[l->port[1]], there);
	after_str(sm, l->node[0], l->port[0], after);
	if (!l->is_up) {
		note_away(sm, l->node[0], l->port[0], false);
		log_on(about_port(LOG_ID_LINK_DOWN, p), is_trunk ? LOGB_ERROR : LOGB_INFO,
		       "%s - %s: the link is down", here, there);
	} else if (l->was_up) {
		log_on(about_port(LOG_ID_LINK_DOWN, p), LOGB_INFO,
		       "%s - %s: the link was down for a moment, and is up", here, there);
	} else {
		log_on(about_port(LOG_ID_LINK_UP, p), LOGB_INFO, "%s - %s: the link is up%s%s",
		       here, there, after[0] ? " again" : "", after);
	}
}

static void write_links(struct sm *sm, bool up)
{
	struct changes *c = sm->m.changes;
	unsigned n = 0;

	for (unsigned i = 0; i < MIN(c->n_links, NOTED); i++) {
		const struct link_change *l = &c->links[i];
		const struct node *here = fabric_find_node(sm->fabric, l->node[0]);

		if (l->is_up != up || is_of_node(c, l) || !here || l->port[0] > here->n_ports)
			continue;
		if (n++ < LISTED)
			write_link(sm, l, &here->ports[l->port[0]]);
		else if (!up)
			note_away(sm, l->node[0], l->port[0], false);
	}
	n += c->n_links > NOTED && c->n_nodes <= NOTED && !up ? c->n_links - NOTED : 0;
	if (n > LISTED)
		log_on(ABOUT(.id = up ? LOG_ID_LINK_UP : LOG_ID_LINK_DOWN), LOGB_INFO,
		       "%u more links %s at the same time", n - LISTED,
		       up ? "came up" : "went down ('opensmctl ports --not-active' has each)");
}

void changes_settled(struct sm *sm)
{
	struct changes *c = sm->m.changes;

	if (is_noted(sm)) {
		write_nodes(sm, false);
		write_links(sm, false);
		write_links(sm, true);
		write_nodes(sm, true);
	}
	c->has_picture = true;
	c->n_links = c->n_nodes = 0;
}
