// SPDX-License-Identifier: BSD-2-Clause
/* The few rules of the two formats. */
#include "metrics/metrics_text.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "util/mem.h"
#include "util/str.h"

/* Longer labels are cut: nothing in a fabric has a longer name. */
#define LABEL_MAX 400

struct metrics_text {
	bool openmetrics;
	FILE *out;
	char family[100];
	const char *instance; /* value of the label sm_instance; NULL: there is none */
	unsigned n_labels;
};

struct metrics_text *metrics_text_new(FILE *out, bool openmetrics)
{
	struct metrics_text *t = xcalloc(1, sizeof(*t));

	assert(out);
	t->openmetrics = openmetrics;
	t->out = out;
	return t;
}

struct metrics_text *metrics_text_end(struct metrics_text *t)
{
	if (t->openmetrics)
		fputs("# EOF\n", t->out);
	free(t);
	return NULL;
}

void metric_sm_instance(struct metrics_text *t, const char *instance)
{
	t->instance = instance;
}

static const char *const type_names[] = {
	[METRIC_COUNTER] = "counter",
	[METRIC_GAUGE] = "gauge",
	[METRIC_HISTOGRAM] = "histogram",
};

void metric_family(struct metrics_text *t, const char *name, enum metric_type type,
		   const char *help)
{
	assert(t && name && help);
	/* OpenMetrics: the family has no "_total", its sample has. */
	int len = (int)strlen(name) - (t->openmetrics && type == METRIC_COUNTER ? 6 : 0);

	snprintf(t->family, sizeof(t->family), "%s", name);
	fprintf(t->out, "# HELP %.*s %s\n# TYPE %.*s %s\n", len, name, help, len, name,
		type_names[type]);
}

void metric_sample(struct metrics_text *t, const char *suffix)
{
	fputs(t->family, t->out);
	fputs(suffix, t->out);
	t->n_labels = 0;
	if (t->instance)
		metric_label(t, "sm_instance", t->instance);
}

static void begin_label(struct metrics_text *t, const char *name)
{
	fputs(t->n_labels++ ? "," : "{", t->out);
	fputs(name, t->out);
	fputs("=\"", t->out);
}

void metric_label(struct metrics_text *t, const char *name, const char *text)
{
	char clean[LABEL_MAX];

	begin_label(t, name);
	str_printable(text, strlen(text), clean, sizeof(clean));
	for (const char *c = clean; *c; c++) {
		if (*c == '"' || *c == '\\')
			putc_unlocked('\\', t->out);
		putc_unlocked(*c, t->out);
	}
	putc_unlocked('"', t->out);
}

void metric_label_word(struct metrics_text *t, const char *name, const char *text)
{
	bool apart = false;

	begin_label(t, name);
	for (const char *c = text; *c; c++) {
		if (!isalnum((unsigned char)*c)) {
			apart = c > text;
			continue;
		}
		if (apart)
			putc_unlocked('_', t->out);
		putc_unlocked(tolower((unsigned char)*c), t->out);
		apart = false;
	}
	putc_unlocked('"', t->out);
}

void metric_label_name(struct metrics_text *t, const char *label, const char *name,
		       const char *unknown, unsigned number)
{
	char hex[12];

	snprintf(hex, sizeof(hex), "0x%04x", number);
	metric_label(t, label, name && strcmp(name, unknown) ? name : hex);
}

void metric_label_guid(struct metrics_text *t, const char *name, uint64_t guid)
{
	begin_label(t, name);
	fprintf(t->out, "0x%016" PRIx64 "\"", guid);
}

void metric_label_number(struct metrics_text *t, const char *name, unsigned number)
{
	begin_label(t, name);
	fprintf(t->out, "%u\"", number);
}

static void end_labels(struct metrics_text *t)
{
	fputs(t->n_labels ? "} " : " ", t->out);
}

void metric_count(struct metrics_text *t, uint64_t n)
{
	end_labels(t);
	fprintf(t->out, "%" PRIu64 "\n", n);
}

void metric_value(struct metrics_text *t, double v)
{
	end_labels(t);
	fprintf(t->out, "%.12g\n", v);
}

void metric_labelled(struct metrics_text *t, const char *label, const char *text, uint64_t n)
{
	metric_sample(t, "");
	metric_label(t, label, text);
	metric_count(t, n);
}

void metric_worded(struct metrics_text *t, const char *label, const char *text, uint64_t n)
{
	metric_sample(t, "");
	metric_label_word(t, label, text);
	metric_count(t, n);
}

static void add_family(struct metrics_text *t, const char *name, enum metric_type type,
		       const char *help, double v)
{
	metric_family(t, name, type, help);
	metric_sample(t, "");
	metric_value(t, v);
}

void metric_gauge(struct metrics_text *t, const char *name, const char *help, double v)
{
	add_family(t, name, METRIC_GAUGE, help, v);
}

void metric_counter(struct metrics_text *t, const char *name, const char *help, double v)
{
	add_family(t, name, METRIC_COUNTER, help, v);
}
