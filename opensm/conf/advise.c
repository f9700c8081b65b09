// SPDX-License-Identifier: BSD-2-Clause
/*
 * Remarks on values that are left as they are: options without effect, routing engines that do not
 * exist, QoS lists that cannot be used as written (opensm-conf.md 5, V7).
 */
#include <string.h>

#include "conf/conf.h"
#include "conf/engines.h"
#include "conf/foreign.h"
#include "util/mem.h"
#include "util/str.h"

#define VLARB_MAX 64

#define NAME_OF(NAME, ...) NAME,
static const char *const engine_names[] = { CONF_ENGINES(NAME_OF) };

struct advice {
	const struct conf *conf;
	struct conf_report *report;
	enum conf_id id;
};

bool conf_engine_known(const char *name)
{
	for (unsigned i = 0; i < ARRAY_SIZE(engine_names); i++)
		if (strcmp(engine_names[i], name) == 0)
			return true;
	return false;
}

/* Words of routing_engine that decide on what happens if every engine fails. */
struct engines {
	bool known, no_fallback; /* known: the list names an engine of this program */
};

static void advise_engine(const struct advice *a, const char *word, const struct engines *all)
{
	const char *instead = all->no_fallback ? "" : ", auto routes when no other does";
	char quoted[CONF_QUOTE_MAX];
	const char *nearest;

	if (strcmp(word, "file") == 0 && !a->conf->lfts_file && !a->conf->lid_matrix_dump_file)
		conf_report_option(a->report, CONF_WARNING, a->conf, a->id,
				   "file without lfts_file and lid_matrix_dump_file: the tables "
				   "are those of minhop");
	if (conf_engine_known(word))
		return;
	if (strcmp(word, "no_fallback") == 0) {
		if (!all->known && !a->conf->event_plugin_name)
			conf_report_option(a->report, CONF_WARNING, a->conf, a->id,
					   "no_fallback without an engine that there is: nothing "
					   "is routed "
					   "and no port comes up");
		return;
	}
	if (a->conf->event_plugin_name) {
		conf_report_option(a->report, CONF_NOTE, a->conf, a->id,
				   "%s is no routing engine of ours; it counts if a plugin of "
				   "event_plugin_name brings it",
				   conf_quote(word, strlen(word), quoted));
		return;
	}
	if (foreign_is_engine(word)) {
		conf_report_option(
			a->report, CONF_WARNING, a->conf, a->id,
			"%s is a routing engine of NVIDIA's subnet manager; it is left out%s", word,
			instead);
		return;
	}
	nearest = str_nearest(word, engine_names, ARRAY_SIZE(engine_names));
	conf_report_option(a->report, CONF_ERROR, a->conf, a->id,
			   "%s is no routing engine%s%s%s; it is left out",
			   conf_quote(word, strlen(word), quoted), nearest ? " (did you mean " : "",
			   nearest ? nearest : "", nearest ? "?)" : "");
}

static void advise_engines(const struct advice *a, const char *list)
{
	_cleanup_free_ char *copy = xstrdup(list), *other = xstrdup(list);
	char *rest = copy, *again = other;
	struct engines all = { 0 };

	for (char *word; (word = strsep(&rest, ", \t"));) {
		all.known |= conf_engine_known(word);
		all.no_fallback |= strcmp(word, "no_fallback") == 0;
	}
	for (char *word; (word = strsep(&again, ", \t"));)
		if (*word)
			advise_engine(a, word, &all);
}

/* Is the word "VL:WEIGHT" with VL 0-14 and weight 0-255? */
static bool is_vlarb_pair(char *word)
{
	char *colon = strchr(word, ':');
	uint64_t n;

	if (!colon)
		return false;
	*colon = '\0';
	return str_to_u64(word, 0, 14, &n) == 0 && str_to_u64(colon + 1, 0, 255, &n) == 0;
}

static bool is_vl(char *word)
{
	uint64_t n;

	return str_to_u64(word, 0, 15, &n) == 0;
}

/* Counts the items of a comma list; complains about those that `good` refuses. */
static unsigned check_items(const struct advice *a, const char *list, bool (*good)(char *word),
			    const char *expected)
{
	_cleanup_free_ char *copy = xstrdup(list);
	char *rest = copy;
	unsigned n = 0;

	for (char *word; (word = strsep(&rest, ",")); n++) {
		_cleanup_free_ char *shown = NULL;
		char quoted[CONF_QUOTE_MAX];

		word += strspn(word, " \t");
		word[strcspn(word, " \t")] = '\0';
		shown = xstrdup(word);
		if (!good(word))
			conf_report_option(a->report, CONF_ERROR, a->conf, a->id,
					   "%s is item %u; expected %s; the list stays as it is",
					   conf_quote(shown, strlen(shown), quoted), n + 1,
					   expected);
	}
	return n;
}

static void advise_vlarb(const struct advice *a, const char *list)
{
	unsigned n = check_items(a, list, is_vlarb_pair, "VL:WEIGHT (0-14, 0-255)");

	if (n > VLARB_MAX)
		conf_report_option(a->report, CONF_ERROR, a->conf, a->id,
				   "%u items; expected at most %d; the list stays as it is", n,
				   VLARB_MAX);
}

static void advise_sl2vl(const struct advice *a, const char *list)
{
	unsigned n = check_items(a, list, is_vl, "a VL of 0-15");

	if (n != 16)
		conf_report_option(a->report, CONF_ERROR, a->conf, a->id,
				   "%u items; expected 16; the list stays as it is", n);
}

static void advise_metrics(const struct advice *a, const char *list)
{
	conf_advise_metrics(a->conf, list, a->report);
}

static const struct {
	enum conf_id id;
	bool qos_only; /* set if the list has no effect while qos is FALSE */
	void (*advise)(const struct advice *a, const char *value);
} string_checks[] = {
	{ CONF_ID_routing_engine, false, advise_engines },
	{ CONF_ID_metrics_groups, false, advise_metrics },
	{ CONF_ID_qos_vlarb_high, true, advise_vlarb },
	{ CONF_ID_qos_vlarb_low, true, advise_vlarb },
	{ CONF_ID_qos_sl2vl, true, advise_sl2vl },
	{ CONF_ID_qos_ca_vlarb_high, true, advise_vlarb },
	{ CONF_ID_qos_ca_vlarb_low, true, advise_vlarb },
	{ CONF_ID_qos_ca_sl2vl, true, advise_sl2vl },
	{ CONF_ID_qos_sw0_vlarb_high, true, advise_vlarb },
	{ CONF_ID_qos_sw0_vlarb_low, true, advise_vlarb },
	{ CONF_ID_qos_sw0_sl2vl, true, advise_sl2vl },
	{ CONF_ID_qos_swe_vlarb_high, true, advise_vlarb },
	{ CONF_ID_qos_swe_vlarb_low, true, advise_vlarb },
	{ CONF_ID_qos_swe_sl2vl, true, advise_sl2vl },
	{ CONF_ID_qos_rtr_vlarb_high, true, advise_vlarb },
	{ CONF_ID_qos_rtr_vlarb_low, true, advise_vlarb },
	{ CONF_ID_qos_rtr_sl2vl, true, advise_sl2vl },
};

static void advise_string(const struct advice *a)
{
	_cleanup_free_ char *value = conf_value_text(a->conf, a->id);

	for (unsigned i = 0; i < ARRAY_SIZE(string_checks); i++)
		if (string_checks[i].id == a->id && (a->conf->qos || !string_checks[i].qos_only))
			string_checks[i].advise(a, value);
}

static void advise_state(const struct advice *a)
{
	_cleanup_free_ char *value = conf_value_shown(a->conf, a->id);
	const char *name = conf_option(a->id)->name;
	struct conf_place at = conf_place(a->conf, a->id);
	enum conf_severity severity = a->conf->strict ? CONF_ERROR : CONF_WARNING;

	switch (conf_option(a->id)->state) {
	case CONF_STATE_LATER:
		if (!strcmp(value, "(null)")) /* the line switches nothing on */
			return;
		conf_report_at(a->report, severity, &at,
			       "%s is not supported yet: %.200s has no effect", name, value);
		return;
	case CONF_STATE_NONE:
		conf_report_at(a->report, severity, &at,
			       "%s is accepted only: %.200s has no effect", name, value);
		return;
	case CONF_STATE_ALWAYS:
		conf_report_option(a->report, CONF_NOTE, a->conf, a->id,
				   "%.200s changes nothing: what it asks for is always so here",
				   value);
		return;
	case CONF_STATE_EFFECTIVE:
	case CONF_STATE_OWN:
		return;
	}
}

void conf_advise(const struct conf *c, const struct conf *since, struct conf_report *r)
{
	for (unsigned id = 0; id < CONF_N_OPTIONS; id++) {
		const struct advice a = { .conf = c, .report = r, .id = id };

		if (conf_value_is_default_path(c, id) || (since && conf_value_equal(c, since, id)))
			continue;
		advise_state(&a);
		advise_string(&a);
	}
	conf_advise_needs(c, since, r);
}
