// SPDX-License-Identifier: BSD-2-Clause
/* The arrays of a topo as bytes, with checks that they fit together. */
#include "topo/topo_pack.h"

#include <string.h>

#include "util/mem.h"

/* More nodes than LIDs: the bytes are no topo. */
#define NODES_MAX (1u << 20)

struct head {
	uint32_t n_switches, n_hosts, n_asides, n_ports, max_lid;
};

static struct head head_of(const struct topo *t)
{
	return (struct head){ t->n_switches, t->n_hosts, t->n_asides, topo_n_entries(t),
			      t->max_lid };
}

/* Arrays of `before`, each NULL where it is not as long. */
static struct topo arrays_like(const struct topo *before, const struct head *head)
{
	const struct head was = before ? head_of(before) : (struct head){ 0 };

	return (struct topo){
		.switches = before && was.n_switches == head->n_switches ? before->switches : NULL,
		.hosts = before && was.n_hosts == head->n_hosts ? before->hosts : NULL,
		.asides = before && was.n_asides == head->n_asides ? before->asides : NULL,
		.ports = before && was.n_ports == head->n_ports ? before->ports : NULL,
	};
}

void topo_pack(const struct topo *t, const struct topo *before, struct pack *p)
{
	const struct head head = head_of(t);
	const struct topo like = arrays_like(before, &head);

	pack_value(p, head);
	pack_changed(p, t->switches, like.switches, t->n_switches, sizeof(*t->switches));
	pack_changed(p, t->hosts, like.hosts, t->n_hosts, sizeof(*t->hosts));
	pack_changed(p, t->asides, like.asides, t->n_asides, sizeof(*t->asides));
	pack_changed(p, t->ports, like.ports, head.n_ports, sizeof(*t->ports));
}

static bool has_room(const struct topo *t, uint32_t n_ports)
{
	uint32_t n = 0;

	for (uint32_t s = 0; s < t->n_switches; s++) {
		if (t->switches[s].first_port != n)
			return false;
		n += t->switches[s].n_ports + 1u;
	}
	return n == n_ports;
}

static bool port_is_good(const struct topo *t, const struct topo_port *p)
{
	if (p->sw != TOPO_NONE && (p->sw >= t->n_switches || p->port > t->switches[p->sw].n_ports))
		return false;
	if (p->left_sw != TOPO_NONE && p->left_sw >= t->n_switches)
		return false;
	return p->host == TOPO_NONE || p->host < t->n_hosts;
}

static bool host_is_good(const struct topo *t, const struct topo_host *h)
{
	return h->sw == TOPO_NONE ||
	       (h->sw < t->n_switches && h->sw_port <= t->switches[h->sw].n_ports);
}

static bool is_good(const struct topo *t, uint32_t n_ports)
{
	if ((!t->switches && t->n_switches) || (!t->hosts && t->n_hosts) ||
	    (!t->asides && t->n_asides) || (!t->ports && n_ports) ||
	    t->max_lid > LID_MAX_UCAST || !has_room(t, n_ports))
		return false;
	for (uint32_t i = 0; i < n_ports; i++)
		if (!port_is_good(t, &t->ports[i]))
			return false;
	for (uint32_t i = 0; i < t->n_hosts; i++)
		if (!host_is_good(t, &t->hosts[i]))
			return false;
	for (uint32_t i = 0; i < t->n_asides; i++)
		if (!host_is_good(t, &t->asides[i]))
			return false;
	return true;
}

struct topo *topo_unpack(struct unpack *u, const struct topo *before)
{
	_cleanup_(topo_unrefp) struct topo *t = xcalloc(1, sizeof(*t));
	struct topo like;
	struct head head;

	t->refs = 1;
	unpack_value(u, head);
	if (head.n_switches > NODES_MAX || head.n_hosts > NODES_MAX ||
	    head.n_asides > NODES_MAX || head.n_ports > 256 * head.n_switches)
		u->bad = true;
	if (u->bad)
		return NULL;
	t->n_switches = head.n_switches;
	t->n_hosts = head.n_hosts;
	t->n_asides = head.n_asides;
	t->max_lid = (lid_t)MIN(head.max_lid, LID_MAX_UCAST + 1u);
	like = arrays_like(before, &head);
	t->switches = unpack_changed(u, like.switches, head.n_switches, sizeof(*t->switches));
	t->hosts = unpack_changed(u, like.hosts, head.n_hosts, sizeof(*t->hosts));
	t->asides = unpack_changed(u, like.asides, head.n_asides, sizeof(*t->asides));
	t->ports = unpack_changed(u, like.ports, head.n_ports, sizeof(*t->ports));
	if (u->bad || !is_good(t, head.n_ports)) {
		u->bad = true;
		return NULL;
	}
	for (uint32_t s = 0; s < t->n_switches; s++)
		t->is_reordered |= topo_order_guid(&t->switches[s]) != t->switches[s].guid;
	for (uint32_t i = 0; i < head.n_ports; i++)
		t->leaves_out |= t->ports[i].left_out;
	topo_set_paces(t);
	return take(t);
}
