// SPDX-License-Identifier: BSD-2-Clause
/* FDR10, which only a vendor attribute shows. */
#include "sm/read/discover_internal.h"

#define SPEED_QDR	0x4
#define SPEED_EXT_FDR	0x1

static bool is_refused(const struct mad_result *r)
{
	return r->end == MAD_END_BAD_STATUS && r->status != MAD_STATUS_BUSY;
}

static void on_ext_port_info(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;
	struct port *p = r->arg;
	struct node *n = p->node;
	bool is_first = n->ext_asked;

	n->ext_asked = false;
	sm->m.discover->pending--;
	sm->m.discover->last_end = sm->now;
	if (r->end == MAD_END_ANSWERED)
		observe_ext_port_info(p, r->payload);
	if (n->ext_port_info == NODE_HAS_UNKNOWN && (r->end == MAD_END_ANSWERED || is_refused(r)))
		observe_has_ext_port_info(n, r->end == MAD_END_ANSWERED);
	if (!is_first || n->ext_port_info == NODE_HAS_NOT)
		return;
	/* Without an answer the next port is asked. */
	for (unsigned i = n->ext_port_info == NODE_HAS ? 1 : p->num + 1u;
	     i <= n->n_ports && !n->ext_asked; i++)
		if (n->ports[i].known && n->ports[i].seen == sm->sweep_no)
			discover_ask_ext_port_info(sm, &n->ports[i]);
}

/* FDR10 belongs to a generation of devices: QDR, at most FDR, nothing faster. */
static bool may_have_fdr10(const struct sm *sm, const struct port *p)
{
	return node_quirk(sm, p->node, QUIRK_EXT_PORT_INFO) &&
	       (ib_get(p->info, PI_SPEED_SUPPORTED) & SPEED_QDR) &&
	       ib_get(p->info, PI_SPEED_EXT_SUPPORTED) <= SPEED_EXT_FDR;
}

/* Asks once per link; of a device that may lack the attribute one port is asked first. */
void discover_ask_ext_port_info(struct sm *sm, struct port *p)
{
	struct node *n = p->node;
	struct dr_path path;
	const struct mad_request rq = {
		.method = MAD_GET,
		.attr = IB_ATTR_MLNX_EXT_PORT_INFO,
		.mod = p->num,
		.path = &path,
		.m_key = port_of_sma(p)->m_key,
		.target = &p->node->target,
	};

	if (!sm->conf->fdr10 || !may_have_fdr10(sm, p) || p->ext_known ||
	    n->ext_port_info == NODE_HAS_NOT || n->ext_asked || port_state(p) == IB_PORT_DOWN ||
	    fabric_port_path(sm->fabric, p, &path) < 0)
		return;
	n->ext_asked = n->ext_port_info == NODE_HAS_UNKNOWN;
	sm->m.discover->pending++;
	mad_submit(sm->mad, &rq, on_ext_port_info, sm, p);
}
