// SPDX-License-Identifier: BSD-2-Clause
/*
 * hm_ports_health_policy_file: links that are exempt from all checks, and links that an
 * administrator calls sick. A line is for the cable, whichever end it names; if lines contradict
 * each other, healthy wins.
 */
#include "sm/base/news.h"
#include "sm/health/sick_internal.h"
#include "util/mem.h"

/* The policy file in force; NULL: none. An unreadable file leaves the former one in force. */
static const struct conf_file *file_of(const struct sm *sm)
{
	const struct conf_file *f = sm->files ? sm->files->of[CONF_FILE_HEALTH] : NULL;

	return f && !f->error ? f : NULL;
}

bool sick_is_exempt(const struct sm *sm, uint32_t link)
{
	const struct health_verdict *v = health_verdict(sm->m.sick->judge, link);
	const struct conf_health_port *line = sick_line_of(sm, v);

	return line && line->healthy;
}

/* ---- another file ---------------------------------------------------------------------------- */

static void take_over(struct sick *k, const struct conf_health_ports *p)
{
	conf_health_ports_clear(&k->policy);
	k->policy = *p;
	k->policy.items = xmemdup(p->items, p->n * sizeof(*p->items));
}

/* Applies the file to all links, as lines may have been deleted. `forget`: it has "all healthy". */
static void apply_to_all(struct sm *sm, bool forget)
{
	struct sick *k = sm->m.sick;

	for (uint32_t i = 0; i < health_n_links(k->judge); i++) {
		const struct health_verdict *v = health_verdict(k->judge, i);
		const struct conf_health_port *line = sick_line_of(sm, v);
		bool sick = line && !line->healthy;

		if (v->end[0].node && !sick && (forget || line))
			sick_forget(sm, i, "hm_ports_health_policy_file calls it healthy");
		if (health_is_manual(k->judge, i) && !sick)
			sick_call(sm, i, false);
	}
}

static void look_for_another(struct sm *sm)
{
	static const struct conf_health_ports none;
	const struct conf_file *f = file_of(sm);
	struct sick *k = sm->m.sick;
	bool named = sm->conf->hm_ports_health_policy_file, first = !k->policy_known;
	uint64_t hash = f ? f->hash : 0;

	if ((!f && named && k->policy_known) || (k->policy_known && hash == k->policy_hash)) {
		if (k->is_of_others)
			apply_to_all(sm, false);
		k->is_of_others = false;
		return;
	}
	k->is_of_others = false;
	take_over(k, f ? &f->health : &none);
	k->policy_known = true;
	k->policy_hash = hash;
	apply_to_all(sm, !first && k->policy.all_healthy);
}

void sick_policy_settle(struct sm *sm)
{
	struct sick *k = sm->m.sick;

	look_for_another(sm);
	for (size_t i = 0; i < k->policy.n && sm->conf->hm_unhealthy_ports_checks; i++) {
		const struct conf_health_port *line = &k->policy.items[i];
		uint32_t link = line->healthy ? UINT32_MAX
					      : sick_link_of(sm, line->guid, line->port);

		if (link != UINT32_MAX &&
		    (!health_is_manual(k->judge, link) ||
		     sick_case_of(k, link) == SICK_NO_CASE) &&
		    !sick_is_exempt(sm, link))
			sick_call(sm, link, true);
	}
}
