// SPDX-License-Identifier: BSD-2-Clause
/* --dumps: the files of a sweep, by the writers of the daemon, from a view made of the file. */
#include <errno.h>
#include <string.h>

#include "ctl/dump.h"
#include "offline/plan.h"
#include "route/tablefile.h"
#include "util/file.h"
#include "util/mem.h"

#define VLS_ASSUMED 8 /* as topo has it */

/* Tenths of Gb/s per lane. */
static uint16_t speed_of(const char *name)
{
	static const struct {
		const char *name;
		uint16_t tenths;
	} speeds[] = {
		{ "SDR", 25 }, { "DDR", 50 }, { "QDR", 100 }, { "FDR10", 103 },
		{ "FDR", 140 }, { "EDR", 250 }, { "HDR", 500 }, { "NDR", 1000 },
	};

	for (unsigned i = 0; i < ARRAY_SIZE(speeds); i++)
		if (!strcmp(name, speeds[i].name))
			return speeds[i].tenths;
	return 0;
}

static void node_of(struct dump_node *ret, const struct topofile_node *n, const char *name)
{
	static const uint8_t types[] = { IB_NODE_SWITCH, IB_NODE_CA, IB_NODE_ROUTER };

	ret->guid = n->guid;
	ret->sysimg_guid = n->sysimg_guid;
	ret->vendor_id = n->vendor & 0xFFFFFF;
	ret->device_id = (uint16_t)n->device;
	ret->type = types[n->type];
	ret->n_ports = n->n_ports;
	ret->is_enhanced = n->enhanced0;
	ret->mapped = xstrdup(name);
}

/* PortInfo's code for that many data VLs. */
static uint8_t vls_code(unsigned vls)
{
	return vls >= 15 ? 5 : vls >= 8 ? 4 : vls >= 4 ? 3 : vls >= 2 ? 2 : 1;
}

static void port_of(const struct dump_view *v, const struct topofile *f, const struct topofile_port *p, unsigned vls)
{
	const struct topofile_node *n = &f->nodes[p->node];
	struct dump_port *ret = &v->ports[v->nodes[p->node].first_port + p->number];
	const struct topofile_port *q = p->peer == TOPO_NONE ? NULL : &f->ports[p->peer];

	ret->known = true;
	ret->state = IB_PORT_ACTIVE;
	ret->width = p->width;
	ret->vls = ret->vl_cap = vls_code(p->vls ? p->vls : vls);
	ret->speed = speed_of(p->speed);
	ret->speed_plain = MIN(ret->speed, 100);
	ret->ext_capable = ret->speed > 103;
	if (q)
		ret->peer = v->nodes[q->node].first_port + q->number;
	if (n->type == TOPOFILE_SWITCH)
		return;
	ret->guid = p->guid;
	ret->lid = p->lid;
	ret->lmc = p->lmc;
}

static struct dump_view *view_of(const struct plan_result *r)
{
	const struct topofile *f = r->world.file;
	unsigned vls = r->world.args->vls ? r->world.args->vls : VLS_ASSUMED;
	struct dump_view *v = xcalloc(1, sizeof(*v));

	v->n_nodes = f->n_nodes;
	v->nodes = xcalloc((size_t)f->n_nodes + 1, sizeof(*v->nodes));
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		node_of(&v->nodes[i], &f->nodes[i], plan_name(&r->world, f->nodes[i].guid));
		v->nodes[i].first_port = v->n_ports;
		v->n_ports += f->nodes[i].n_ports + 1u;
	}
	v->ports = xcalloc((size_t)v->n_ports + 1, sizeof(*v->ports));
	for (uint32_t i = 0; i < f->n_nodes; i++)
		for (unsigned p = 0; p <= f->nodes[i].n_ports; p++) {
			struct dump_port *port = &v->ports[v->nodes[i].first_port + p];

			*port = (struct dump_port){ .node = i, .peer = DUMP_NONE, .num = (uint8_t)p,
				.state = IB_PORT_DOWN };
			if (f->nodes[i].type != TOPOFILE_SWITCH)
				continue;
			port->known = true;
			port->guid = f->nodes[i].port_guid;
			port->lid = f->nodes[i].lid;
			port->lmc = f->nodes[i].lmc;
		}
	for (uint32_t i = 0; i < f->n_ports; i++)
		port_of(v, f, &f->ports[i], vls);
	v->routes = routes_ref(r->now.routes);
	dump_view_add_qos(v, r->world.conf);
	return v;
}

/* Lines of paths' SLs: one per pair of end ports. Beyond these nobody reads them. */
#define PSL_HOSTS_MAX 4096

static int write_lanes(const struct routes *r, const char *dir, const char *name,
		       void (*write)(const struct routes *r, FILE *out))
{
	_cleanup_free_ char *path = xasprintf("%s/%s", dir, name);
	FILE *out = fopen(path, "we");
	int e = out ? 0 : -errno;

	if (out) {
		write(r, out);
		if (fclose(out))
			e = -errno;
	}
	if (e < 0)
		fprintf(stderr, "opensm: --dumps: %s: %s\n", path, strerror(-e));
	return e;
}

/* What ibdmchk -c and -d read, and --verify. */
static int write_all_lanes(const struct routes *r, const char *dir)
{
	int e = 0;

	if (!r || !r->lanes)
		return 0;
	if (r->topo->n_hosts <= PSL_HOSTS_MAX)
		e = write_lanes(r, dir, "ibdmchk-psl.txt", tablefile_write_psl);
	return e < 0 ? e : write_lanes(r, dir, "ibdmchk-sl2vl.txt", tablefile_write_sl2vl);
}

int plan_write_dumps(const struct plan_result *r, const char *dir)
{
	_cleanup_(dump_view_freep) struct dump_view *v = view_of(r);
	const struct dump_config c = { .dir = dir, .routing = r->now.routes != NULL };
	char why[512];
	int e = file_mkdirs(dir, 0755);

	if (e < 0)
		fprintf(stderr, "opensm: --dumps %s: %s\n", dir, strerror(-e));
	if (e < 0)
		return e;
	e = dump_write_all(v, &c, why, sizeof(why));
	if (e < 0)
		fprintf(stderr, "opensm: --dumps: %s\n", why);
	return e < 0 ? e : write_all_lanes(r->now.routes, dir);
}
