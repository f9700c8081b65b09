// SPDX-License-Identifier: BSD-2-Clause
/* Families of security: the checklist, rules broken by ports, and traps. */
#include "metrics/metrics_internal.h"
#include "util/mem.h"

static void render_checklist(const struct metrics *m, struct metrics_text *t)
{
	metric_family(t, "opensm_security_check", METRIC_GAUGE,
		      "1: a line of the security checklist passes, 0: it fails; none: unknown");
	for (unsigned i = 0; i < SECURITY_CHECKS; i++) {
		const struct security_check *c = &m->security.checks[i];

		if (c->verdict != SECURITY_UNKNOWN)
			metric_labelled(t, "check", c->name, c->verdict == SECURITY_PASS);
	}
}

static void render_traps(const struct metrics *m, struct metrics_text *t)
{
	const struct {
		const char *what;
		uint64_t n;
	} fates[] = {
		{ "taken", m->traps.taken },	       { "repeated", m->traps.repeats },
		{ "suppressed", m->traps.suppressed }, { "forged", m->traps.forged },
		{ "stranger", m->traps.strangers },
	};

	metric_family(t, "opensm_traps_total", METRIC_COUNTER,
		      "Traps received, by what they are about");
	for (unsigned i = 0; i < SM_TRAP_KINDS; i++) {
		metric_labelled(t, "kind", sm_trap_kind_name(i), m->traps.received[i]);
	}
	metric_family(t, "opensm_trap_verdicts_total", METRIC_COUNTER, "What was made of traps");
	for (size_t i = 0; i < ARRAY_SIZE(fates); i++) {
		metric_labelled(t, "verdict", fates[i].what, fates[i].n);
	}
	metric_gauge(t, "opensm_trap_storms", "Sources whose traps are suppressed now",
		     m->traps.storms);
}

static void render_violations(const struct metrics *m, struct metrics_text *t)
{
	metric_family(t, "opensm_violations_total", METRIC_COUNTER,
		      "Rules broken by ports, by kind (opensmctl ports --violations)");
	for (unsigned i = 0; i < VIOLATION_KINDS; i++)
		metric_labelled(t, "kind", violation_kind_name(i), m->violations.n[i]);
	metric_gauge(t, "opensm_violating_ports",
		     "Ports with violations by the node attached, since the start",
		     m->violating_ports);
	metric_gauge(t, "opensm_isolated_ports",
		     "Of these: switched off by security_violation_policy", m->isolated_ports);
}
void metrics_security(const struct metrics *m, struct metrics_text *t)
{
	render_checklist(m, t);
	render_traps(m, t);
	render_violations(m, t);
}
