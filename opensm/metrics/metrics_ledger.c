// SPDX-License-Identifier: BSD-2-Clause
/* Families of the ledger: what managers share, and whether it is written to devices. */
#include <string.h>

#include "metrics/metrics_internal.h"
#include "util/mem.h"

static const struct {
	const char *name, *label;
} states[] = {
	{ "not master", "not_master" }, { "asking", "asking" },	  { "taking", "taking" },
	{ "writing", "writing" },	{ "keeping", "keeping" },
};

void metrics_take_ledger(struct metrics *m, const struct sm *sm)
{
	struct metrics_ledger *l = &m->ledger;

	sm_ledger(sm, &l->now);
	/* Texts of the manager do not outlive it. */
	l->now.file = NULL;
	l->now.fault = l->now.fault ? "" : NULL;
	while (l->n_tables < METRIC_LEDGER_TABLES &&
	       sm_ledger_table_at(sm, l->n_tables, &l->tables[l->n_tables]))
		l->n_tables++;
}

void metrics_ledger(const struct metrics *m, struct metrics_text *t)
{
	const struct metrics_ledger *l = &m->ledger;

	metric_family(t, "opensm_ledger_state", METRIC_GAUGE,
		      "May rows of the ledger be written to devices: 1 for the state it is in");
	for (unsigned i = 0; i < ARRAY_SIZE(states); i++)
		metric_labelled(t, "state", states[i].label,
				!strcmp(l->now.state, states[i].name));
	metric_family(t, "opensm_ledger_rows", METRIC_GAUGE,
		      "Rows of the ledger that are there, by table");
	for (unsigned i = 0; i < l->n_tables; i++)
		metric_labelled(t, "table", l->tables[i].name, l->tables[i].n_rows);
	metric_gauge(t, "opensm_ledger_unexplained_pkeys",
		     "P_Keys on devices that nothing explains; opensmctl ledger adopt or forget",
		     (double)l->now.n_unexplained);
	metric_gauge(t, "opensm_ledger_standbys", "Managers of ours that are reached",
		     l->now.n_standbys);
	metric_gauge(t, "opensm_ledger_standbys_behind",
		     "Those of them that have not stored all that is stored here",
		     l->now.n_behind);
	metric_gauge(t, "opensm_ledger_not_stored",
		     "The file of the ledger cannot be written; the log says why",
		     l->now.fault != NULL);
}
