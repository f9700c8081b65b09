// SPDX-License-Identifier: BSD-2-Clause
/*
 * Metrics as text: the format of Prometheus (0.0.4), or OpenMetrics 1.0, which differs in details.
 *
 *   metric_family(t, "opensm_sweeps_total", METRIC_COUNTER, "Sweeps that ended");
 *   metric_labelled(t, "kind", "heavy", 7);
 *
 * All samples of a family follow it. Labels may hold anything: they are escaped, and bytes that are
 * no printable ASCII become blanks.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct metrics_text;

enum metric_type { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM };

/* Writes to `out`, which must outlive it. */
struct metrics_text *metrics_text_new(FILE *out, bool openmetrics);
/* Writes the end and frees `t`; returns NULL. */
struct metrics_text *metrics_text_end(struct metrics_text *t);

/*
 * Adds the label `sm_instance` to all samples that follow; NULL: no more. The name `instance` is
 * taken: Prometheus gives it to the target of each scrape.
 */
void metric_sm_instance(struct metrics_text *t, const char *instance);
/* Starts a family. Counters end in "_total". `help`: one line. */
void metric_family(struct metrics_text *t, const char *name, enum metric_type type,
		   const char *help);
/* Starts a sample. `suffix`: "_bucket", "_sum" or "_count" of histograms, else "". */
void metric_sample(struct metrics_text *t, const char *suffix);
void metric_label(struct metrics_text *t, const char *name, const char *text);
/* Writes "Invalid GID" as "invalid_gid". */
void metric_label_word(struct metrics_text *t, const char *name, const char *text);
/* `name`, or the number where it is what all unknown ones are called: no sample stands twice. */
void metric_label_name(struct metrics_text *t, const char *label, const char *name,
		       const char *unknown, unsigned number);
void metric_label_guid(struct metrics_text *t, const char *name, uint64_t guid);
void metric_label_number(struct metrics_text *t, const char *name, unsigned number);
/* Write the value, which ends the sample. */
void metric_count(struct metrics_text *t, uint64_t n);
void metric_value(struct metrics_text *t, double v);

/* Writes a sample with one label. */
void metric_labelled(struct metrics_text *t, const char *label, const char *text, uint64_t n);
/* The same, with the text as metric_label_word() writes it. */
void metric_worded(struct metrics_text *t, const char *label, const char *text, uint64_t n);
/* Write a family of one sample without labels. */
void metric_gauge(struct metrics_text *t, const char *name, const char *help, double v);
void metric_counter(struct metrics_text *t, const char *name, const char *help, double v);
