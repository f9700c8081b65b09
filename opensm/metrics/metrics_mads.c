// SPDX-License-Identifier: BSD-2-Clause
/* Families of MADs that were sent and received. */
#include "metrics/metrics_internal.h"
#include "util/mem.h"

/* An attribute without a name, to learn the name that all such have. */
#define NO_ATTR 0xFFFE

static void label_mad(struct metrics_text *t, const struct mad_count *c)
{
	metric_sample(t, "");
	metric_label(t, "class", "smp");
	metric_label_name(t, "method", mad_method_name(c->method),
			  mad_method_name(METRIC_NO_METHOD), c->method);
	metric_label_name(t, "attr", ib_attr_name(c->attr), ib_attr_name(NO_ATTR), c->attr);
}

enum mad_figure {
	MADS_SENT,
	MADS_RECEIVED,
	MADS_REFUSED,
	MADS_RETRIES,
	MADS_TIMEOUTS,
	MAD_FIGURES
};

static const struct {
	const char *name, *help;
} mad_families[MAD_FIGURES] = {
	[MADS_SENT] = { "opensm_mads_sent_total", "MADs sent, repeated ones included" },
	[MADS_RECEIVED] = { "opensm_mads_received_total", "Answers to them" },
	[MADS_REFUSED] = { "opensm_mads_refused_total", "Answers with a bad status" },
	[MADS_RETRIES] = { "opensm_mads_retries_total", "MADs that were sent again" },
	[MADS_TIMEOUTS] = { "opensm_mad_timeouts_total", "Questions without an answer in the end" },
};

static uint64_t mad_figure(const struct mad_count *c, enum mad_figure what)
{
	const uint64_t figures[MAD_FIGURES] = {
		[MADS_SENT] = c->sent,		[MADS_RECEIVED] = c->answered + c->bad_status,
		[MADS_REFUSED] = c->bad_status, [MADS_RETRIES] = c->retries,
		[MADS_TIMEOUTS] = c->timeouts,
	};

	return figures[what];
}

void metrics_mads(const struct metrics *m, struct metrics_text *t)
{
	for (enum mad_figure k = 0; k < MAD_FIGURES; k++) {
		metric_family(t, mad_families[k].name, METRIC_COUNTER, mad_families[k].help);
		for (unsigned i = 0; i < m->n_mads; i++) {
			label_mad(t, &m->mads[i]);
			metric_count(t, mad_figure(&m->mads[i], k));
		}
	}
	metric_family(t, "opensm_mads_ignored_total", METRIC_COUNTER,
		      "MADs that came in and answer nothing that was asked");
	for (enum mad_stray why = 0; why < MAD_STRAYS; why++)
		metric_labelled(t, "reason", mad_stray_name(why), m->strays[why]);
}
