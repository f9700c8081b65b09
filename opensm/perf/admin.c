// SPDX-License-Identifier: BSD-2-Clause
/* Commands of administrators, and what they are told of the state. */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "perf/perf_internal.h"

void perf_sweep_now(struct perf *p)
{
	p->asked = true;
}

void perf_set_sweep_time(struct perf *p, unsigned seconds)
{
	assert(seconds > 0);
	p->status.sweep_time_s = seconds;
	p->next_at = p->started + seconds * MONO_S;
}

void perf_set_remove_missing(struct perf *p, bool remove)
{
	p->status.remove_missing = remove;
}

void perf_set_query_cpi(struct perf *p, bool query)
{
	p->status.query_cpi = query;
}

void perf_clear_totals(struct perf *p, int64_t realtime)
{
	for (unsigned i = 0; i < p->totals.n; i++) {
		struct perf_entry *e = p->totals.entries[i];

		for (unsigned num = 0; num <= e->node.n_ports; num++) {
			memset(e->ports[num].errors, 0, sizeof(e->ports[num].errors));
			memset(e->ports[num].data, 0, sizeof(e->ports[num].data));
			e->ports[num].reset_at = realtime;
		}
	}
}

unsigned perf_remove_inactive(struct perf *p)
{
	return perf_totals_drop(&p->totals);
}

void perf_clear_redirections(struct perf *p, guid_t guid)
{
	for (unsigned i = 0; i < p->totals.n; i++) {
		struct perf_entry *e = p->totals.entries[i];

		for (unsigned num = 0; num <= e->node.n_ports && (!guid || guid == e->node.guid);
		     num++)
			e->past[num].to = (struct perf_redirection){ 0 };
	}
}

const struct perf_status *perf_status(const struct perf *p)
{
	return &p->status;
}

void perf_print_redirections(const struct perf *p, const struct perf_node *node, FILE *out)
{
	const struct perf_entry *e = perf_totals_find(&p->totals, node->guid);
	bool any_yet = false;

	for (unsigned num = 0; e && num <= node->n_ports; num++) {
		const struct perf_redirection *to = &e->past[num].to;

		if (!to->lid)
			continue;
		if (!any_yet)
			fprintf(out,
				"\"%s\" 0x%" PRIx64
				"\n   Port  LID     QP        Q_Key       P_Key   SL\n",
				node->name, node->guid);
		any_yet = true;
		fprintf(out, "   %-4u  0x%04x  0x%06x  0x%08x  0x%04x  %u\n", num, to->lid, to->qp,
			to->qkey, to->pkey, to->sl);
	}
}
