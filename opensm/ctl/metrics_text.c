// SPDX-License-Identifier: BSD-2-Clause
/* A buffer that grows, and the few rules of the two formats. */
#include "ctl/metrics_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "util/mem.h"
#include "util/str.h"

/* Longer labels are cut: nothing in a fabric has a longer name. */
#define LABEL_MAX 400

struct metrics_text {
	bool openmetrics;
	char *buf;
	size_t len, cap;
	char family[100];
	const char *instance;
	unsigned n_labels;
};

static void put(struct metrics_text *t, const char *bytes, size_t n)
{
	GROW(t->buf, t->len + n + 1, t->cap);
	memcpy(t->buf + t->len, bytes, n);
	t->len += n;
}

static void put_text(struct metrics_text *t, const char *text)
{
	put(t, text, strlen(text));
}

static void putf(struct metrics_text *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static void putf(struct metrics_text *t, const char *fmt, ...)
{
	char text[200];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	put_text(t, text);
}

struct metrics_text *metrics_text_new(bool openmetrics)
{
	struct metrics_text *t = xcalloc(1, sizeof(*t));

	t->openmetrics = openmetrics;
	return t;
}

char *metrics_text_end(struct metrics_text *t, size_t *ret_len)
{
	char *text;

	if (t->openmetrics)
		put_text(t, "# EOF\n");
	put(t, "", 1);
	*ret_len = t->len - 1;
	text = t->buf;
	free(t);
	return text;
}

void metric_instance(struct metrics_text *t, const char *instance)
{
	t->instance = instance;
}

static const char *type_name(enum metric_type type)
{
	switch (type) {
	case METRIC_COUNTER:
		return "counter";
	case METRIC_GAUGE:
		return "gauge";
	case METRIC_HISTOGRAM:
		return "histogram";
	}
	return "unknown";
}

void metric_family(struct metrics_text *t, const char *name, enum metric_type type,
		   const char *help)
{
	/* OpenMetrics: the family has no "_total", its sample has. */
	int len = (int)strlen(name) - (t->openmetrics && type == METRIC_COUNTER ? 6 : 0);

	snprintf(t->family, sizeof(t->family), "%s", name);
	putf(t, "# HELP %.*s ", len, name);
	put_text(t, help);
	putf(t, "\n# TYPE %.*s %s\n", len, name, type_name(type));
}

void metric_sample(struct metrics_text *t, const char *suffix)
{
	put_text(t, t->family);
	put_text(t, suffix);
	t->n_labels = 0;
	if (t->instance)
		metric_label(t, "instance", t->instance);
}

static void begin_label(struct metrics_text *t, const char *name)
{
	put_text(t, t->n_labels++ ? "," : "{");
	put_text(t, name);
	put_text(t, "=\"");
}

void metric_label(struct metrics_text *t, const char *name, const char *text)
{
	char clean[LABEL_MAX];

	begin_label(t, name);
	str_printable(text, strlen(text), clean, sizeof(clean));
	for (const char *c = clean; *c; c++) {
		if (*c == '"' || *c == '\\')
			put(t, "\\", 1);
		put(t, c, 1);
	}
	put(t, "\"", 1);
}

void metric_label_guid(struct metrics_text *t, const char *name, uint64_t guid)
{
	begin_label(t, name);
	putf(t, "0x%016" PRIx64 "\"", guid);
}

void metric_label_number(struct metrics_text *t, const char *name, unsigned number)
{
	begin_label(t, name);
	putf(t, "%u\"", number);
}

static void end_labels(struct metrics_text *t)
{
	put_text(t, t->n_labels ? "} " : " ");
}

void metric_count(struct metrics_text *t, uint64_t n)
{
	end_labels(t);
	putf(t, "%" PRIu64 "\n", n);
}

void metric_value(struct metrics_text *t, double v)
{
	end_labels(t);
	putf(t, "%.12g\n", v);
}

void metric_one(struct metrics_text *t, const char *name, enum metric_type type, const char *help,
		double v)
{
	metric_family(t, name, type, help);
	metric_sample(t, "");
	metric_value(t, v);
}
