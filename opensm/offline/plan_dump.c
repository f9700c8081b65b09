// SPDX-License-Identifier: BSD-2-Clause
/* --dumps: the files of a sweep, by the writers of the daemon, from a view made of the file. */
#include <errno.h>
#include <string.h>

#include "dump/dump.h"
#include "fabric/observe.h"
#include "offline/base/lanefile.h"
#include "offline/plan.h"
#include "util/file.h"
#include "util/mem.h"

#define VLS_ASSUMED 8 /* as topo has it */

/*
 * As active, with what a node says that knows all speeds. What is faster than QDR is QDR to older
 * readers.
 */
static void put_speed(uint8_t *info, const char *name)
{
	const struct ib_speed *speed = ib_speed_named(name, strlen(name));

	if (!speed)
		return;
	ib_put(info, PI_SPEED_ACTIVE,
	       speed->tenths > IB_SPEED_QDR ? ib_speed_of(IB_SPEED_QDR)->bit[0] : speed->bit[0]);
	ib_put(info, PI_SPEED_EXT_ACTIVE, speed->bit[IB_SPEED_EXTENDED]);
	ib_put(info, PI_SPEED_EXT2_ACTIVE, speed->bit[IB_SPEED_EXTENDED2]);
}

static void put_speed_sets(uint8_t *info)
{
	ib_put(info, PI_CAP_MASK, IB_CAP(IB_CAP_EXTENDED_SPEEDS) | IB_CAP(IB_CAP_CAPMASK2));
	ib_put(info, PI_CAP_MASK2, IB_CAP(IB_CAP2_EXTENDED_SPEEDS2));
}

static struct node *add_node(struct fabric *to, const struct topofile_node *n)
{
	uint8_t ni[SMP_DATA_SIZE] = { 0 };
	struct node *ret;

	ib_put(ni, NI_NODE_TYPE, topofile_node_type(n->type));
	ib_put(ni, NI_NUM_PORTS, MAX(n->n_ports, 1));
	ib_put(ni, NI_NODE_GUID, n->guid);
	ib_put(ni, NI_SYSTEM_IMAGE_GUID, n->sysimg_guid);
	ib_put(ni, NI_PORT_GUID, n->port_guid ? n->port_guid : n->guid);
	ib_put(ni, NI_VENDOR_ID, n->vendor & 0xFFFFFF);
	ib_put(ni, NI_DEVICE_ID, n->device & 0xFFFF);
	ib_put(ni, NI_LOCAL_PORT, 1);
	ret = observe_node_info(to, ni).node;
	if (!ret)
		return NULL;
	snprintf(ret->desc, sizeof(ret->desc), "%s", n->name);
	if (n->type != TOPOFILE_SWITCH)
		return ret;
	ret->switch_known = true;
	ib_put(ret->switch_info, SI_ENHANCED_PORT0, n->enhanced0);
	for (unsigned i = 0; i <= ret->n_ports; i++) {
		ret->ports[i].known = true;
		ib_put(ret->ports[i].info, PI_PORT_STATE, IB_PORT_DOWN);
	}
	ret->ports[0].lid = n->lid;
	ret->ports[0].lmc = n->lmc;
	put_speed_sets(ret->ports[0].info);
	return ret;
}

/* A port with a cable. */
static void set_port(struct fabric *to, struct port *p, const struct topofile_port *from,
		     unsigned vls)
{
	const struct ib_width *width = ib_width_of(from->width);

	p->known = true;
	ib_put(p->info, PI_PORT_STATE, IB_PORT_ACTIVE);
	ib_put(p->info, PI_WIDTH_ACTIVE, width ? width->bit : 0);
	ib_put(p->info, PI_OPER_VLS, ib_vls_code(from->vls ? from->vls : vls));
	ib_put(p->info, PI_VL_CAP, ib_vls_code(from->vls ? from->vls : vls));
	put_speed(p->info, from->speed);
	if (node_is_switch(p->node))
		return;
	put_speed_sets(p->info);
	observe_port_guid(to, p, from->guid);
	p->lid = from->lid;
	p->lmc = from->lmc;
}

/* Makes the fabric that a sweep would have read. */
static struct fabric *fabric_of(const struct topofile *f, unsigned vls)
{
	struct node **nodes = xcalloc((size_t)f->n_nodes + 1, sizeof(*nodes));
	struct fabric *ret = fabric_new();
	bool was_out;

	for (uint32_t i = 0; i < f->n_nodes; i++)
		nodes[i] = add_node(ret, &f->nodes[i]);
	for (uint32_t i = 0; i < f->n_ports; i++) {
		const struct topofile_port *p = &f->ports[i];

		if (nodes[p->node])
			set_port(ret, &nodes[p->node]->ports[p->number], p, vls);
	}
	for (uint32_t i = 0; i < f->n_ports; i++) {
		const struct topofile_port *p = &f->ports[i],
					   *q = p->peer == TOPO_NONE ? p : &f->ports[p->peer];

		if (p != q && nodes[p->node] && nodes[q->node])
			observe_cable(&nodes[p->node]->ports[p->number],
				      &nodes[q->node]->ports[q->number], &was_out);
	}
	free(nodes);
	return ret;
}

static struct view *view_of(const struct plan_result *r)
{
	unsigned vls = r->world.args->vls ? r->world.args->vls : VLS_ASSUMED;
	struct fabric *fabric = fabric_of(r->world.file, vls);
	const struct view_source from = {
		.conf = r->world.conf,
		.files = r->world.files,
		.fabric = fabric,
		.routes = r->now.routes,
	};
	struct view *ret = view_new(&from);

	fabric_free(fabric);
	return ret;
}

/* Lines of paths' SLs: one per pair of end ports. More would be of no use. */
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

/* Writes the input of ibdmchk -c and -d, and of --verify. */
static int write_all_lanes(const struct routes *r, const char *dir)
{
	int e = 0;

	if (!r || !r->lanes)
		return 0;
	if (r->topo->n_hosts <= PSL_HOSTS_MAX)
		e = write_lanes(r, dir, "ibdmchk-psl.txt", lanefile_write_psl);
	return e < 0 ? e : write_lanes(r, dir, "ibdmchk-sl2vl.txt", lanefile_write_sl2vl);
}

int plan_write_dumps(const struct plan_result *r, const char *dir)
{
	_cleanup_(view_unrefp) struct view *v = view_of(r);
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
