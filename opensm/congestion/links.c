// SPDX-License-Identifier: BSD-2-Clause
/*
 * Links, where settings depend on them: their rates, and what is at their other ends. A link that
 * went down counts as it was, so that a host that restarts changes no setting of its switch.
 */
#include <stdlib.h>

#include "congestion/congestion_internal.h"
#include "ib/attrs.h"
#include "ib/codes.h"
#include "util/mem.h"

#define INCAST_MAX 16384u /* what a control table can express */

void cc_count_hosts(struct cc *cc, const struct fabric *f)
{
	unsigned hosts = 0, incast = MAX(cc->incast, 1u);

	FABRIC_EACH_END_PORT(f, p)
		hosts += node_is_switch(p->node) || !port_is_live(p) ? 0 : 1;
	while (incast < hosts && incast < INCAST_MAX)
		incast *= 2;
	cc->incast = (uint16_t)incast;
}

static struct cc_link link_at(const struct port *p)
{
	bool fdr10 = p->ext_known && p->ext_active & EPI_SPEED_FDR10;
	unsigned speed = ib_link_speed(p->info, fabric_speed_sets(p), fdr10);
	unsigned rate = ib_rate_of_link(ib_link_width(p->info), speed);

	return (struct cc_link){
		.rate = (uint16_t)ib_rate_bandwidth(rate),
		.speed = (uint16_t)speed,
		.to_host = p->peer && !node_is_switch(p->peer->node),
	};
}

/* True: it differs from what was known. */
static bool learn(struct cc_link *link, const struct port *p)
{
	struct cc_link now = link_at(p), before = *link;

	if (!port_is_live(p) || !p->peer || !now.rate)
		return false;
	*link = now;
	return now.rate != before.rate || now.speed != before.speed ||
	       now.to_host != before.to_host;
}

static bool learn_switch(struct cc_entry *e, const struct node *n)
{
	struct cc_device *d = &e->device;
	bool is_other = false;

	if (!d->links)
		d->links = xcalloc(d->n_ports + 1u, sizeof(*d->links));
	d->own = (struct cc_link){ 0 };
	for (unsigned num = 1; num <= MIN(d->n_ports, n->n_ports); num++) {
		is_other |= learn(&d->links[num], &n->ports[num]);
		if (d->links[num].rate > d->own.rate)
			d->own = d->links[num];
	}
	return is_other;
}

bool cc_learn_links(struct cc *cc, struct cc_entry *e, const struct port *p,
		    const struct conf *conf)
{
	bool is_other;

	if (!cc_uses_links(conf))
		return false;
	if (e->port.is_switch)
		return learn_switch(e, p->node);
	is_other = e->device.incast != cc->incast;
	e->device.incast = cc->incast;
	return learn(&e->device.own, p) || is_other;
}
