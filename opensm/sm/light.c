// SPDX-License-Identifier: BSD-2-Clause
/*
 * The light sweep: one SwitchInfo per switch tells whether anything changed since the last sweep;
 * what did not answer so far is asked again, in its own time. Finds changes, repairs nothing.
 *
 * It also audits: one block of each switch's table is read per sweep, in turn. Whatever wrote there
 * (another manager, a Set that was under way for too long) is found out in the end.
 */
#include <string.h>

#include "sm/impl.h"

static void light_change(struct sm *sm, const char *what, const struct port *p)
{
	char where[PORT_STRLEN];

	if (!sm->light_found_change)
		log_info("%s: %s", fabric_port_str(p, where), what);
	sm->light_found_change = true;
}

static void on_switch_info(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;
	struct node *n = r->arg;

	sm->discover_pending--;
	switch (r->end) {
	case MAD_END_ANSWERED:
		if (ib_get(r->payload, SI_PORT_STATE_CHANGE))
			light_change(sm, "a port changed its state", &n->ports[0]);
		else if (ib_get(r->payload, SI_LINEAR_FDB_TOP) !=
			 ib_get(n->switch_info, SI_LINEAR_FDB_TOP))
			light_change(sm, "its forwarding table was reset", &n->ports[0]);
		else if (n->ports[0].seen != sm->sweep_no)
			light_change(sm, "was silent and answers now", &n->ports[0]);
		break;
	case MAD_END_TIMEOUT:
	case MAD_END_BAD_STATUS:
		if (!n->misses && n->ports[0].seen == sm->sweep_no)
			light_change(sm, "does not answer SwitchInfo", &n->ports[0]);
		break;
	case MAD_END_CANCELLED:
		break;
	}
}

static void on_audit(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;
	struct node *n = r->arg;
	const uint8_t *have = lft_have_block(&n->lft, r->mod);

	sm->discover_pending--;
	if (r->end != MAD_END_ANSWERED || !have || !memcmp(have, r->payload, LFT_BLOCK_LIDS))
		return;
	lft_have_set(&n->lft, r->mod, r->payload);
	light_change(sm, "its forwarding table was changed by somebody else", &n->ports[0]);
}

static void audit(struct sm *sm, struct node *n)
{
	uint32_t block = n->lft.n_blocks ? sm->stats.light_sweeps % n->lft.n_blocks : 0;

	if (!lft_have_block(&n->lft, block))
		return;
	sm->discover_pending++;
	discover_get(sm, n, IB_ATTR_LFT, block, on_audit);
}

static void ask_switch(struct sm *sm, struct node *n)
{
	audit(sm, n);
	sm->discover_pending++;
	discover_get(sm, n, IB_ATTR_SWITCH_INFO, 0, on_switch_info);
}

static void on_silent_answer(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;
	struct port *p = r->arg;

	sm->discover_pending--;
	if (r->end == MAD_END_ANSWERED)
		light_change(sm, "who was silent behind it answers now", p);
}

static void ask_silent(struct sm *sm, struct port *p)
{
	struct dr_path path;
	const struct mad_request rq = {
		.method = MAD_GET,
		.attr = IB_ATTR_NODE_INFO,
		.path = &path,
		.m_key = discover_probe_mkey(sm, p),
		.target = &p->behind,
	};

	if (!p->silent || dr_path_extend(&p->node->path, p->num, &path) < 0)
		return;
	sm->discover_pending++;
	mad_submit(sm->mad, &rq, on_silent_answer, sm, p);
}

static void ask_host(struct sm *sm, struct node *n)
{
	for (unsigned i = 1; i <= n->n_ports; i++) {
		struct port *p = &n->ports[i];
		struct dr_path path;

		if (!p->known || !p->peer || fabric_port_path(sm->fabric, p, &path) < 0)
			continue;
		if (!n->desc_known)
			discover_ask_desc(sm, p, &path);
		if (p != sm->fabric->own_port &&
		    (ib_get(p->info, PI_CAP_MASK) & IB_CAP(IB_CAP_IS_SM)))
			elect_ask(sm, p);
	}
}

void light_start(struct sm *sm)
{
	sm->light_found_change = false;
	FABRIC_EACH_NODE(sm->fabric, n) {
		if (!node_is_switch(n)) {
			ask_host(sm, n);
			continue;
		}
		ask_switch(sm, n);
		if (!n->desc_known)
			discover_ask_desc(sm, &n->ports[0], &n->path);
		for (unsigned i = 1; i <= n->n_ports; i++)
			ask_silent(sm, &n->ports[i]);
	}
}
