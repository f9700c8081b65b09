// SPDX-License-Identifier: BSD-2-Clause
/*
 * Nodes that were silent before: a sweep that serves a change beside them asks each once and goes
 * on. An answer is a change of its own.
 */
#include "sm/base/keys.h"
#include "sm/base/news.h"
#include "sm/read/discover_internal.h"

static void on_answer(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;
	struct port *p = r->arg;

	if (r->end != MAD_END_ANSWERED)
		return;
	observe_silence(p, false);
	tell_port(sm, p, "a silent node answers");
}

/* With one M_Key for all; where each port has its own, which one it takes is found by waiting. */
bool discover_asks_silent(struct sm *sm, struct port *p)
{
	struct dr_path path;
	struct mad_request rq = {
		.method = MAD_GET,
		.attr = IB_ATTR_NODE_INFO,
		.path = &path,
		.m_key = discover_probe_mkey(sm, p),
		.target = &p->behind,
	};

	if (!sm->m.discover->partial || !p->silent || p->peer || keys_are_single(sm) ||
	    sm->m.discover->ask.is_hidden(sm, p) ||
	    dr_path_extend(&p->node->path, p->num, &path) < 0)
		return false;
	if (!p->behind.members.first) /* none is on its way, or waits for its turn */
		mad_submit(sm->mad, &rq, on_answer, sm, p);
	return true;
}
