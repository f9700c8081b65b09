// SPDX-License-Identifier: BSD-2-Clause
/* The security checklist; a line that is unknown has no sample. */
#include "metrics/metrics_internal.h"

void metrics_security(const struct metrics *m, struct metrics_text *t)
{
	metric_family(t, "opensm_security_check", METRIC_GAUGE,
		      "1: a line of the security checklist passes, 0: it fails; none: unknown");
	for (unsigned i = 0; i < SECURITY_CHECKS; i++) {
		const struct security_check *c = &m->security.checks[i];

		if (c->verdict != SECURITY_UNKNOWN)
			metric_labelled(t, "check", c->name, c->verdict == SECURITY_PASS);
	}
}
