// SPDX-License-Identifier: BSD-2-Clause
/* Tables as text in the formats that opensm/route/io/tablefile.c reads; figures of benchmarks. */
#include "tests/lib/tables.h"

#include <inttypes.h>
#include <string.h>

#include "util/mem.h"

/* The owner of a LID: an entry of hosts, or of switches. */
struct owner {
	uint32_t host, sw;
};

static struct owner *find_owners(const struct routes *r)
{
	const struct topo *t = r->topo;
	struct owner *all = xmalloc((r->top + 1u) * sizeof(*all));

	for (unsigned lid = 0; lid <= r->top; lid++)
		all[lid] = (struct owner){ TOPO_NONE, TOPO_NONE };
	for (uint32_t s = 0; s < t->n_switches; s++)
		for (unsigned k = 0; t->switches[s].lid && k < 1u << t->switches[s].lmc; k++)
			if (t->switches[s].lid + k <= r->top)
				all[t->switches[s].lid + k].sw = s;
	for (uint32_t h = 0; h < t->n_hosts; h++)
		for (unsigned k = 0; t->hosts[h].lid && k < 1u << t->hosts[h].lmc; k++)
			if (t->hosts[h].lid + k <= r->top)
				all[t->hosts[h].lid + k].host = h;
	return all;
}

static void write_owner(const struct topo *t, struct owner o, FILE *out)
{
	if (o.host != TOPO_NONE)
		fprintf(out, "%s portguid 0x%016" PRIx64 ": ''\n",
			t->hosts[o.host].router ? "Router" : "Channel Adapter",
			t->hosts[o.host].guid);
	else if (o.sw != TOPO_NONE)
		fprintf(out, "Switch portguid 0x%016" PRIx64 ": ''\n", t->switches[o.sw].guid);
	else
		fputs("unknown node and type\n", out);
}

void tables_write_lfts(const struct routes *r, FILE *out)
{
	_cleanup_free_ struct owner *owners = find_owners(r);
	const struct topo *t = r->topo;

	for (uint32_t s = 0; s < t->n_switches; s++) {
		const struct topo_switch *sw = &t->switches[s];

		fprintf(out, "Unicast lids [0-%u] of switch Lid %u guid 0x%016" PRIx64 " (''):\n",
			r->top, sw->lid, sw->guid);
		for (unsigned lid = 0; lid <= r->top; lid++) {
			if (routes_row(r, s)[lid] > sw->n_ports)
				continue;
			fprintf(out, "0x%04x %03u # ", lid, routes_row(r, s)[lid]);
			write_owner(t, owners[lid], out);
		}
		fprintf(out, "%u lids dumped\n", r->top);
	}
}

/* Hops from `s` to the port with the LID; 64 and more: packets do not arrive. */
static unsigned hops_to(const struct routes *r, const struct owner *owners, uint32_t s, lid_t lid)
{
	const struct topo *t = r->topo;
	uint32_t at =
		owners[lid].host != TOPO_NONE ? t->hosts[owners[lid].host].sw : owners[lid].sw;
	unsigned hops = 0;

	for (; s != at && hops < 64; hops++) {
		uint32_t channel = routes_channel(r, s, lid);

		if (channel == TOPO_NONE)
			return 64;
		s = t->ports[channel].sw;
	}
	return hops + (owners[lid].host != TOPO_NONE && hops < 64);
}

void tables_write_fdbs(const struct routes *r, FILE *out)
{
	_cleanup_free_ struct owner *owners = find_owners(r);
	const struct topo *t = r->topo;

	for (uint32_t s = 0; s < t->n_switches; s++) {
		fprintf(out,
			"dump_ucast_routes: Switch 0x%016" PRIx64
			"\nLID    : Port : Hops : Optimal\n",
			t->switches[s].guid);
		for (unsigned lid = 1; lid <= r->top; lid++) {
			uint8_t port = routes_port(r, s, (lid_t)lid);

			if (port > t->switches[s].n_ports ||
			    (owners[lid].host == TOPO_NONE && owners[lid].sw == TOPO_NONE))
				fprintf(out, "0x%04X : UNREACHABLE\n", lid);
			else if (hops_to(r, owners, s, (lid_t)lid) >= 64)
				fprintf(out, "0x%04X : %03u  : HOPS UNKNOWN\n", lid, port);
			else
				fprintf(out, "0x%04X : %03u  : %02u   : yes\n", lid, port,
					hops_to(r, owners, s, (lid_t)lid));
		}
	}
}

/* ---- figures ------------------------------------------------------------------------------- */

/* Counts each channel once per stamp. */
struct marks {
	uint32_t stamp, *stamps, *count;
};

/* The path from switch `from` to the host: `by` for each channel of it. */
static void mark_way(const struct routes *r, uint32_t from, const struct topo_host *to,
		     struct marks *m, uint32_t by)
{
	const struct topo *t = r->topo;

	for (unsigned hops = 0; from != to->sw && hops < IB_MAX_HOPS; hops++) {
		uint32_t channel = routes_channel(r, from, to->lid);

		if (channel == TOPO_NONE)
			return;
		if (m->stamps[channel] != m->stamp) {
			m->stamps[channel] = m->stamp;
			m->count[channel] += by;
		}
		from = t->ports[channel].sw;
	}
}

static bool takes_part(const struct topo_host *h)
{
	return h->sw != TOPO_NONE && h->lid;
}

unsigned tables_all_to_all_risk(const struct routes *r)
{
	const struct topo *t = r->topo;
	uint32_t n_ports = topo_n_entries(t);
	_cleanup_free_ uint32_t *stamps = xcalloc(n_ports, sizeof(*stamps));
	_cleanup_free_ uint32_t *sources = xcalloc(n_ports, sizeof(*sources));
	_cleanup_free_ uint32_t *targets = xcalloc(n_ports, sizeof(*targets));
	_cleanup_free_ uint32_t *hosts = xcalloc(t->n_switches, sizeof(*hosts));
	struct marks to_m = { .stamps = stamps, .count = targets };
	struct marks from_m = { .stamps = stamps, .count = sources };
	uint32_t risk = 0;

	for (uint32_t h = 0; h < t->n_hosts; h++)
		if (takes_part(&t->hosts[h]))
			hosts[t->hosts[h].sw]++;
	for (uint32_t h = 0; h < t->n_hosts; h++) {
		const struct topo_host *to = &t->hosts[h];

		to_m.stamp++;
		for (uint32_t s = 0; takes_part(to) && s < t->n_switches; s++)
			if (hosts[s])
				mark_way(r, s, to, &to_m, 1);
	}
	memset(stamps, 0, n_ports * sizeof(*stamps));
	for (uint32_t s = 0; s < t->n_switches; s++) {
		from_m.stamp++;
		for (uint32_t h = 0; hosts[s] && h < t->n_hosts; h++)
			if (takes_part(&t->hosts[h]))
				mark_way(r, s, &t->hosts[h], &from_m, hosts[s]);
	}
	for (uint32_t c = 0; c < n_ports; c++)
		risk = MAX(risk, MIN(sources[c], targets[c]));
	return risk;
}
