// SPDX-License-Identifier: BSD-2-Clause
/*
 * Fabrics from files: made into a topo, written back, queried for names. Reading is in
 * topofile_read.c.
 */
#include "topo/topofile.h"

#include <inttypes.h>
#include <string.h>

#include "conf/lists/quirks.h"
#include "util/bisect.h"
#include "util/mem.h"

/* A device that quirks.def knows for an aggregation node. */
#define ASIDE_VENDOR 0x0002C9
#define ASIDE_DEVICE 0xCF09

#define ALL_LIDS ((lid_t)(LID_MAX_UCAST + 1)) /* assumed for a switch without LinearFDBCap */

struct topofile *topofile_free(struct topofile *f)
{
	if (!f)
		return NULL;
	for (uint32_t i = 0; i < f->n_nodes; i++)
		free(f->nodes[i].name);
	free(f->nodes);
	free(f->ports);
	free(f);
	return NULL;
}

uint32_t topofile_find(const struct topofile *f, enum topofile_type type, guid_t guid)
{
	const struct topofile_node *n = f->nodes;
	uint32_t at = BISECT(i, 0, f->n_nodes,
			     n[i].type < type || (n[i].type == type && n[i].guid < guid));

	return at < f->n_nodes && n[at].type == type && n[at].guid == guid ? at : TOPO_NONE;
}

const char *topofile_name(const struct topofile *f, guid_t node_guid)
{
	for (unsigned type = TOPOFILE_SWITCH; type <= TOPOFILE_ROUTER; type++) {
		uint32_t i = topofile_find(f, (enum topofile_type)type, node_guid);

		if (i != TOPO_NONE)
			return f->nodes[i].name;
	}
	return NULL;
}

static bool is_aside(const struct topofile_node *n)
{
	return n->type == TOPOFILE_CA &&
	       conf_quirk_holds(NULL, QUIRK_AGGREGATION, n->vendor, (uint16_t)n->device);
}

static void add_nodes(const struct topofile *f, struct topo_builder *b)
{
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		const struct topofile_node *n = &f->nodes[i];

		if (n->type == TOPOFILE_SWITCH)
			topo_add_switch(b, &(struct topo_switch){ .guid = n->guid,
								  .sysimg_guid = n->sysimg_guid,
								  .n_ports = n->n_ports,
								  .lid = n->lid,
								  .lmc = n->lmc,
								  .lft_cap = ALL_LIDS });
	}
	for (uint32_t i = 0; i < f->n_ports; i++) {
		const struct topofile_port *p = &f->ports[i];
		const struct topofile_node *n = &f->nodes[p->node];

		if (n->type != TOPOFILE_SWITCH)
			topo_add_host(b, &(struct topo_host){ .guid = p->guid,
							      .node_guid = n->guid,
							      .sysimg_guid = n->sysimg_guid,
							      .node_port = p->number,
							      .router = n->type == TOPOFILE_ROUTER,
							      .aside = is_aside(n),
							      .lid = p->lid,
							      .lmc = p->lmc });
	}
}

static struct topo_port_facts facts_of(const struct topofile_port *p)
{
	const struct ib_speed *speed = ib_speed_named(p->speed, strlen(p->speed));

	return (struct topo_port_facts){ .vls = p->vls,
					 .rate = (uint16_t)ib_data_rate(
						 p->width, speed ? speed->tenths : 0) };
}

struct topo *topofile_topo(const struct topofile *f, unsigned vls)
{
	struct topo_builder *b = topo_builder_new();

	if (vls)
		topo_set_vls(b, vls);
	add_nodes(f, b);
	for (uint32_t i = 0; i < f->n_ports; i++) {
		const struct topofile_port *p = &f->ports[i],
					   *q = p->peer == TOPO_NONE ? NULL : &f->ports[p->peer];
		const struct topofile_node *n = &f->nodes[p->node],
					   *m = q ? &f->nodes[q->node] : NULL;

		if (n->type != TOPOFILE_SWITCH)
			continue;
		topo_set_port(b, n->guid, p->number, facts_of(p));
		if (m && m->type == TOPOFILE_SWITCH && p->peer >= i)
			topo_add_link(b, n->guid, p->number, m->guid, q->number);
		else if (m && m->type != TOPOFILE_SWITCH)
			topo_add_host_link(b, q->guid, n->guid, p->number);
	}
	return topo_build(b);
}

/* --- Writing -------------------------------------------------------------------------------- */

static void write_id(FILE *out, const struct topofile_node *n)
{
	fprintf(out, "\"%c-%016" PRIx64 "\"", ib_node_row(topofile_node_type(n->type))->letter,
		n->guid);
}

static void write_port(const struct topofile *f, const struct topofile_port *p, FILE *out)
{
	const struct topofile_port *q = p->peer == TOPO_NONE ? NULL : &f->ports[p->peer];
	const struct topofile_node *n = &f->nodes[p->node], *m = q ? &f->nodes[q->node] : NULL;

	if (!q)
		return;
	fprintf(out, "[%u]", p->number);
	if (n->type != TOPOFILE_SWITCH)
		fprintf(out, "(%" PRIx64 ") ", p->guid);
	fputc('\t', out);
	write_id(out, m);
	fprintf(out, "[%u]", q->number);
	if (m->type != TOPOFILE_SWITCH)
		fprintf(out, "(%" PRIx64 ") ", q->guid);
	fputs("\t\t# ", out);
	if (n->type != TOPOFILE_SWITCH)
		fprintf(out, "lid %u lmc %u ", p->lid, p->lmc);
	fprintf(out, "\"%s\" lid %u", m->name, m->type == TOPOFILE_SWITCH ? m->lid : q->lid);
	if (p->width)
		fprintf(out, " %ux%s", p->width, p->speed);
	if (p->vls && ib_data_vls(ib_vls_code(p->vls)) == p->vls)
		fprintf(out, " v=%u", ib_vls_code(p->vls));
	fputc('\n', out);
}

void topofile_write(const struct topofile *f, FILE *out)
{
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		const struct topofile_node *n = &f->nodes[i];
		const struct ib_node_row *type = ib_node_row(topofile_node_type(n->type));

		fprintf(out, "\nvendid=0x%x\ndevid=0x%x\nsysimgguid=0x%" PRIx64 "\n%s=0x%" PRIx64,
			n->vendor, n->device, n->sysimg_guid, type->key, n->guid);
		if (n->type == TOPOFILE_SWITCH)
			fprintf(out, "(%" PRIx64 ")", n->port_guid);
		fprintf(out, "\n%s\t%u ", type->net, n->n_ports);
		write_id(out, n);
		fprintf(out, "\t\t# \"%s\"", n->name);
		if (n->type == TOPOFILE_SWITCH)
			fprintf(out, " %s port 0 lid %u lmc %u", n->enhanced0 ? "enhanced" : "base",
				n->lid, n->lmc);
		fputc('\n', out);
		for (uint32_t k = 0; k < n->n_rows; k++)
			write_port(f, &f->ports[n->first_port + k], out);
	}
}

/* --- From a topo ---------------------------------------------------------------------------- */

static struct topofile_port *add_row(struct topofile *f, uint32_t node, uint8_t number,
				     uint16_t rate)
{
	struct topofile_port *p = &f->ports[f->n_ports];
	unsigned lanes = 0;
	const struct ib_speed *speed = ib_speed_of_data_rate(rate, &lanes);

	if (!f->nodes[node].n_rows++)
		f->nodes[node].first_port = f->n_ports;
	f->n_ports++;
	p->node = node;
	p->number = number;
	p->width = (uint8_t)lanes;
	p->peer = TOPO_NONE;
	snprintf(p->speed, sizeof(p->speed), "%s", speed ? speed->name : "");
	return p;
}

static void switches_of(struct topofile *f, const struct topo *t, uint32_t *row_of)
{
	for (uint32_t s = 0; s < t->n_switches; s++) {
		const struct topo_switch *sw = &t->switches[s];

		f->nodes[f->n_nodes++] =
			(struct topofile_node){ .type = TOPOFILE_SWITCH,
						.guid = sw->guid,
						.sysimg_guid = sw->sysimg_guid,
						.port_guid = sw->guid,
						.n_ports = sw->n_ports,
						.lid = sw->lid,
						.lmc = sw->lmc,
						.name = xasprintf("switch %u", s) };
		for (unsigned i = 1; i <= sw->n_ports; i++) {
			const struct topo_port *p = topo_port(t, s, i);

			if (p->sw == TOPO_NONE && p->host == TOPO_NONE && !p->aside)
				continue;
			row_of[p - t->ports] = f->n_ports;
			add_row(f, s, (uint8_t)i, p->rate)->vls = p->vls;
		}
	}
}

/* A node of its own: ports of one CA do not stay together. Takes the name. */
static void add_end(struct topofile *f, const struct topo *t, const struct topo_host *end,
		    char *name, const uint32_t *row_of)
{
	uint32_t node = f->n_nodes++;
	struct topofile_port *p;

	f->nodes[node] = (struct topofile_node){
		.type = TOPOFILE_CA, .guid = end->guid, .sysimg_guid = end->sysimg_guid,
		.vendor = end->aside ? ASIDE_VENDOR : 0, .device = end->aside ? ASIDE_DEVICE : 0,
		.n_ports = MAX(end->node_port, 1), .name = name,
	};
	if (end->sw == TOPO_NONE)
		return;
	p = add_row(f, node, MAX(end->node_port, 1),
		    topo_port(t, end->sw, end->sw_port)->rate);
	p->guid = end->guid;
	p->lid = end->lid;
	p->lmc = end->lmc;
	p->peer = row_of[topo_port(t, end->sw, end->sw_port) - t->ports];
	f->ports[p->peer].peer = (uint32_t)(p - f->ports);
}

/* Hosts and those set aside, by GUID. */
static void ends_of(struct topofile *f, const struct topo *t, const uint32_t *row_of)
{
	for (uint32_t h = 0, i = 0; h < t->n_hosts || i < t->n_asides;) {
		if (i == t->n_asides || (h < t->n_hosts && t->hosts[h].guid < t->asides[i].guid)) {
			add_end(f, t, &t->hosts[h], xasprintf("host %u", h), row_of);
			h++;
		} else {
			add_end(f, t, &t->asides[i], xasprintf("aggregation node %u", i), row_of);
			i++;
		}
	}
}

struct topofile *topofile_from_topo(const struct topo *t)
{
	struct topofile *f = xcalloc(1, sizeof(*f));
	uint32_t n = topo_n_entries(t);
	_cleanup_free_ uint32_t *row_of = xcalloc(n + 1, sizeof(*row_of));

	f->nodes = xcalloc((size_t)t->n_switches + t->n_hosts + t->n_asides + 1,
			   sizeof(*f->nodes));
	f->ports = xcalloc((size_t)n + t->n_hosts + t->n_asides + 1, sizeof(*f->ports));
	switches_of(f, t, row_of);
	for (uint32_t i = 0; i < f->n_ports; i++) {
		const struct topo_port *p = topo_port(t, f->ports[i].node, f->ports[i].number);

		if (p->sw != TOPO_NONE)
			f->ports[i].peer = row_of[topo_port(t, p->sw, p->port) - t->ports];
	}
	ends_of(f, t, row_of);
	return f;
}
