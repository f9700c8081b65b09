// SPDX-License-Identifier: BSD-2-Clause
/* The entries of ports: found by GUID and by LID, queued to be asked, left alone while silent. */
#include <stdlib.h>

#include "congestion/congestion_internal.h"
#include "util/log.h"
#include "util/mem.h"

#define LOGGED_MAX    20 /* lines about ports, until all are settled */
#define LMC_MAX	      7u
/* Silent ports are asked again after so long, doubled four times. */
#define AGAIN_FIRST   (300 * MONO_S)
#define AGAIN_DOUBLED 4u

/* ---- the entries ----------------------------------------------------------------------------- */

struct cc_entry *cc_meet(struct cc *cc, const struct port *p)
{
	struct cc_entry *e = guidmap_get(cc->by_guid, p->guid);

	if (e)
		return e;
	e = xcalloc(1, sizeof(*e));
	e->port.guid = p->guid;
	e->port.state = CC_SETTLED;
	e->port.is_switch = e->device.is_switch = node_is_switch(p->node);
	e->device.n_ports = p->node->n_ports;
	GROW(cc->entries, cc->n + 1, cc->cap);
	cc->entries[cc->n++] = e;
	cc->sorted = false;
	guidmap_put(cc->by_guid, p->guid, e);
	return e;
}

void cc_place_at(struct cc *cc, struct cc_entry *e, const struct port *p)
{
	if (e->port.lid && e->port.lid != p->lid && guidmap_get(cc->by_lid, e->port.lid) == e)
		guidmap_remove(cc->by_lid, e->port.lid);
	e->port.lid = p->lid;
	e->lmc = (uint8_t)ib_get(p->info, PI_LMC);
	guidmap_put(cc->by_lid, p->lid, e);
}

struct cc_entry *cc_entry_of_lid(const struct cc *cc, lid_t lid)
{
	for (unsigned lmc = 0; lmc <= LMC_MAX; lmc++) {
		lid_t base = (lid_t)(lid >> lmc << lmc);
		struct cc_entry *e = base ? guidmap_get(cc->by_lid, base) : NULL;

		if (e && (lid ^ e->port.lid) >> e->lmc == 0)
			return e;
	}
	return NULL;
}

void cc_forget(struct cc *cc, struct cc_entry *e)
{
	cc_stop_asking(cc, e);
	guidmap_remove(cc->by_guid, e->port.guid);
	if (guidmap_get(cc->by_lid, e->port.lid) == e)
		guidmap_remove(cc->by_lid, e->port.lid);
	free(e->device.links);
	free(e);
}

/* ---- the queue ------------------------------------------------------------------------------- */

void cc_enqueue(struct cc *cc, struct cc_entry *e, unsigned todo)
{
	bool is_idle = e->port.state != CC_QUEUED && !e->tid;

	if (e->port.state == CC_SILENT || e->port.state == CC_UNSUPPORTED)
		todo = CC_TODO_ALL; /* nothing is known of it */
	e->todo |= todo;
	if (!is_idle)
		return;
	e->port.state = CC_QUEUED;
	TAILQ_INSERT_TAIL(&cc->queue, e, queue);
	cc->busy |= (todo & CC_TODO_ALL) != 0;
}

void cc_leave_silent(struct cc *cc, struct cc_entry *e)
{
	e->todo = 0;
	e->writes = false;
	e->port.state = CC_SILENT;
	if (e->timeouts == UINT8_MAX) /* which key is next, not more */
		e->timeouts = CC_TRIES;
	e->again_at = cc->now + (AGAIN_FIRST << MIN(e->again, AGAIN_DOUBLED));
	cc->again_at = mono_min(cc->again_at, e->again_at);
}

void cc_stop_asking(struct cc *cc, struct cc_entry *e)
{
	if (e->tid) {
		guidmap_remove(cc->by_tid, e->tid);
		cc->outstanding--;
	} else if (e->port.state == CC_QUEUED) {
		TAILQ_REMOVE(&cc->queue, e, queue);
	}
	e->tid = 0;
	e->port.state = CC_SETTLED;
}

/* ---- the log --------------------------------------------------------------------------------- */

void cc_say(struct cc *cc, const struct cc_place *place, const struct cc_entry *e,
	    const char *text)
{
	const struct port *p = fabric_find_port(place->fabric, e->port.guid);
	char name[PORT_STRLEN];

	if (cc->logged++ < LOGGED_MAX)
		log_info("port %s %s", p ? fabric_port_str(p, name) : "?", text);
	else
		cc->not_logged++;
}
