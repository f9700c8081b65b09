// SPDX-License-Identifier: BSD-2-Clause
/* Tables and lanes as text, in the forms that others read: files.md 3 and 4, routing.md 4.2. */
#include <inttypes.h>

#include "route/graph.h"
#include "route/tablefile.h"
#include "util/mem.h"

static const char *name_of(tablefile_name name, const void *arg, guid_t guid)
{
	const char *found = name ? name(arg, guid) : NULL;

	return found ? found : "";
}

/* What a LID belongs to: an entry of hosts, or of switches. */
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

static void write_owner(const struct topo *t, struct owner o, tablefile_name name, const void *arg, FILE *out)
{
	if (o.host != TOPO_NONE)
		fprintf(out, "%s portguid 0x%016" PRIx64 ": '%s'\n",
			t->hosts[o.host].router ? "Router" : "Channel Adapter", t->hosts[o.host].guid,
			name_of(name, arg, t->hosts[o.host].node_guid));
	else if (o.sw != TOPO_NONE)
		fprintf(out, "Switch portguid 0x%016" PRIx64 ": '%s'\n", t->switches[o.sw].guid,
			name_of(name, arg, t->switches[o.sw].guid));
	else
		fputs("unknown node and type\n", out);
}

void tablefile_write_lfts(const struct routes *r, tablefile_name name, const void *arg, FILE *out)
{
	_cleanup_free_ struct owner *owners = find_owners(r);
	const struct topo *t = r->topo;

	for (uint32_t s = 0; s < t->n_switches; s++) {
		const struct topo_switch *sw = &t->switches[s];

		fprintf(out, "Unicast lids [0-%u] of switch Lid %u guid 0x%016" PRIx64 " ('%s'):\n", r->top, sw->lid,
			sw->guid, name_of(name, arg, sw->guid));
		for (unsigned lid = 0; lid <= r->top; lid++) {
			if (routes_row(r, s)[lid] > sw->n_ports)
				continue;
			fprintf(out, "0x%04x %03u # ", lid, routes_row(r, s)[lid]);
			write_owner(t, owners[lid], name, arg, out);
		}
		fprintf(out, "%u lids dumped\n", r->top);
	}
}

/* Hops from `s` to where the LID is; 64 and more: it does not arrive. */
static unsigned hops_to(const struct routes *r, const struct owner *owners, uint32_t s, lid_t lid)
{
	const struct topo *t = r->topo;
	uint32_t at = owners[lid].host != TOPO_NONE ? t->hosts[owners[lid].host].sw : owners[lid].sw;
	unsigned hops = 0;

	for (; s != at && hops < 64; hops++) {
		uint8_t port = routes_port(r, s, lid);

		if (!port || port > t->switches[s].n_ports || topo_port(t, s, port)->sw == TOPO_NONE)
			return 64;
		s = topo_port(t, s, port)->sw;
	}
	return hops + (owners[lid].host != TOPO_NONE && hops < 64);
}

void tablefile_write_fdbs(const struct routes *r, FILE *out)
{
	_cleanup_free_ struct owner *owners = find_owners(r);
	const struct topo *t = r->topo;

	for (uint32_t s = 0; s < t->n_switches; s++) {
		fprintf(out, "dump_ucast_routes: Switch 0x%016" PRIx64 "\nLID    : Port : Hops : Optimal\n",
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

/* ---- opensm-subnet.lst ----------------------------------------------------------------------- */

/* One end of a cable: a port of a switch or a host. */
static void write_end(const struct topo *t, uint32_t sw, unsigned port, tablefile_name name, const void *arg,
		      FILE *out)
{
	const struct topo_switch *s = &t->switches[sw];

	fprintf(out, "{ SW Ports:%02X SystemGUID:%016" PRIx64 " NodeGUID:%016" PRIx64 " PortGUID:%016" PRIx64
		" VenID:000000 DevID:0000 Rev:00000000 {%s} LID:%04X PN:%02X }", s->n_ports, s->guid, s->guid,
		s->guid, name_of(name, arg, s->guid), s->lid, port);
}

static void write_host(const struct topo *t, const struct topo_host *h, tablefile_name name, const void *arg,
		       FILE *out)
{
	unsigned port = MAX(h->node_port, 1u);

	(void)t;
	fprintf(out, "{ %s Ports:%02X SystemGUID:%016" PRIx64 " NodeGUID:%016" PRIx64 " PortGUID:%016" PRIx64
		" VenID:000000 DevID:0000 Rev:00000000 {%s} LID:%04X PN:%02X }", h->router ? "Rt" : "CA", port,
		h->node_guid, h->node_guid, h->guid, name_of(name, arg, h->node_guid), h->lid, port);
}

void tablefile_write_subnet(const struct topo *t, tablefile_name name, const void *arg, FILE *out)
{
	static const char link[] = " PHY=4x LOG=ACT SPD=10\n";

	for (uint32_t h = 0; h < t->n_hosts; h++) {
		if (t->hosts[h].sw == TOPO_NONE)
			continue;
		write_host(t, &t->hosts[h], name, arg, out);
		fputc(' ', out);
		write_end(t, t->hosts[h].sw, t->hosts[h].sw_port, name, arg, out);
		fputs(link, out);
	}
	for (uint32_t s = 0; s < t->n_switches; s++)
		for (unsigned p = 1; p <= t->switches[s].n_ports; p++) {
			const struct topo_port *port = topo_port(t, s, p);

			if (port->sw == TOPO_NONE && port->host == TOPO_NONE)
				continue;
			write_end(t, s, p, name, arg, out);
			fputc(' ', out);
			if (port->sw != TOPO_NONE)
				write_end(t, port->sw, port->port, name, arg, out);
			else
				write_host(t, &t->hosts[port->host], name, arg, out);
			fputs(link, out);
		}
}

/* ---- lanes ----------------------------------------------------------------------------------- */

void tablefile_write_psl(const struct routes *r, FILE *out)
{
	const struct topo *t = r->topo;

	for (uint32_t a = 0; a < t->n_hosts; a++)
		for (uint32_t b = 0; b < t->n_hosts; b++)
			for (unsigned k = 0; t->hosts[b].lid && k < 1u << t->hosts[b].lmc; k++) {
				lid_t lid = (lid_t)(t->hosts[b].lid + k);

				if (a == b || t->hosts[a].sw == TOPO_NONE || t->hosts[b].sw == TOPO_NONE)
					continue;
				fprintf(out, "0x%016" PRIx64 " %u %u\n", t->hosts[a].node_guid, lid,
					lanes_sl(r->lanes, t->hosts[a].sw, t->hosts[b].sw, lid, 0));
			}
}

void tablefile_write_sl2vl(const struct routes *r, FILE *out)
{
	const struct topo *t = r->topo;

	for (uint32_t s = 0; r->lanes && s < t->n_switches; s++)
		for (unsigned in = 0; in <= t->switches[s].n_ports; in++)
			for (unsigned to = 1; to <= t->switches[s].n_ports; to++) {
				fprintf(out, "0x%016" PRIx64 " %u %u", t->switches[s].guid, in, to);
				for (unsigned sl = 0; sl < LANES_SLS; sl += 2)
					fprintf(out, " 0x%x%x", lanes_vl(r->lanes, t, s, in, to, (uint8_t)sl),
						lanes_vl(r->lanes, t, s, in, to, (uint8_t)(sl + 1)));
				fputc('\n', out);
			}
}
