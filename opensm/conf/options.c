// SPDX-License-Identifier: BSD-2-Clause
/*
 * The options: their table (options.def), its rows by number and by name, and findings about one of
 * them.
 */
#include "conf/conf.h"

#include <assert.h>
#include <string.h>

#include "conf/engines.h"
#include "conf/metrics_groups.h"
#include "util/mem.h"
#include "util/str.h"

#define SECTION_DEVICE "DEVICE ATTRIBUTES OPTIONS"
#define SECTION_PARTITIONING "PARTITIONING OPTIONS"
#define SECTION_SWEEPING "SWEEP OPTIONS"
#define SECTION_ROUTING "ROUTING OPTIONS"
#define SECTION_HANDOVER "HANDOVER - MULTIPLE SMs OPTIONS"
#define SECTION_TIMING "TIMING AND THREADING OPTIONS"
#define SECTION_MISC "MISC OPTIONS"
#define SECTION_PERFMGR "Performance Manager Options"
#define SECTION_EVENT_DB "Event DB Options"
#define SECTION_EVENT_PLUGIN "Event Plugin Options"
#define SECTION_NODE_NAMES "Node name map"
#define SECTION_DEBUGGING "DEBUG FEATURES"
#define SECTION_QOS "QoS OPTIONS"
#define SECTION_CC "Congestion Control OPTIONS"
#define SECTION_CC_SWITCH "Congestion Control of switches"
#define SECTION_CC_CA "Congestion Control of hosts"
#define SECTION_CC_TABLE "Congestion Control Table"
#define SECTION_PREFIX_ROUTES "Prefix routes"
#define SECTION_IPV6_SNM "IPv6 Solicited Node Multicast (SNM) Options"
#define SECTION_LOG_PREFIX "Log prefix"
#define SECTION_OURS "Options that other subnet managers do not know"

static const struct conf_option options[] = {
#define OPTION(key, ctype, value_type, def, allowed, how, price, support, heading, text)           \
	[CONF_ID_##key] = {                                                                        \
		.name = #key,                                                                      \
		.default_text = def,                                                               \
		.range = allowed,                                                                  \
		.help = text,                                                                      \
		.section = SECTION_##heading,                                                      \
		.offset = offsetof(struct conf, key),                                              \
		.size = sizeof(ctype),                                                             \
		.type = CONF_##value_type,                                                         \
		.format = CONF_FORMAT_##how,                                                       \
		.cost = CONF_COST_##price,                                                         \
		.state = CONF_STATE_##support,                                                     \
	},
#include "conf/options.def"
};

static const struct {
	const char *name;
	enum conf_id id;
} aliases[] = {
#define OPTION(name, ...)
#define ALIAS(old_name, new_name) { #old_name, CONF_ID_##new_name },
#include "conf/options.def"
};

static const char *const cost_names[] = {
	[CONF_COST_NOTHING] = "NOTHING", [CONF_COST_LOG] = "LOG",
	[CONF_COST_SWEEP] = "SWEEP",	 [CONF_COST_ROUTE] = "ROUTE",
	[CONF_COST_RESTART] = "RESTART",
};

const struct conf_option *conf_option(enum conf_id id)
{
	assert(id < CONF_N_OPTIONS);
	return &options[id];
}

enum conf_id conf_option_find(const char *name)
{
	for (unsigned i = 0; i < CONF_N_OPTIONS; i++)
		if (strcmp(options[i].name, name) == 0)
			return i;
	for (unsigned i = 0; i < ARRAY_SIZE(aliases); i++)
		if (strcmp(aliases[i].name, name) == 0)
			return aliases[i].id;
	return CONF_N_OPTIONS;
}

const char *conf_option_nearest(const char *name)
{
	const char *words[CONF_N_OPTIONS];
	char plain[64];
	size_t n = 0, n_words = 0;

	for (; name[n] && n < sizeof(plain) - 1; n++) {
		plain[n] = name[n] >= 'A' && name[n] <= 'Z' ? (char)(name[n] + 'a' - 'A') : name[n];
		if (plain[n] == '-')
			plain[n] = '_';
	}
	plain[n] = '\0';
	/* Three edits change the length by three at most, which rules most rows out. */
	for (unsigned i = 0; i < CONF_N_OPTIONS; i++)
		if (labs((long)strlen(options[i].name) - (long)n) <= 3)
			words[n_words++] = options[i].name;
	return str_nearest(plain, words, n_words);
}

bool conf_is_secret(enum conf_id id)
{
	return id == CONF_ID_m_key || id == CONF_ID_sm_key || id == CONF_ID_sa_key ||
	       id == CONF_ID_cc_key;
}

const char *conf_cost_name(enum conf_cost cost)
{
	return cost_names[cost];
}

struct conf_place conf_place(const struct conf *c, enum conf_id id)
{
	if (!c->file_line[id])
		return (struct conf_place){ 0 };
	return (struct conf_place){ .file = c->file,
				    .line = c->file_line[id],
				    .column = c->file_column[id] };
}

void conf_report_option(struct conf_report *r, enum conf_severity severity, const struct conf *c,
			enum conf_id id, const char *fmt, ...)
{
	struct conf_place at = conf_place(c, id);
	_cleanup_free_ char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	conf_report_at(r, severity, &at, "%s: %s", conf_option(id)->name, text);
}
