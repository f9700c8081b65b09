// SPDX-License-Identifier: BSD-2-Clause
/* The value of metrics_groups: its words, and remarks on it. */
#include "conf/metrics_groups.h"

#include <assert.h>
#include <string.h>

#include "conf/conf.h"
#include "util/mem.h"
#include "util/str.h"

#define SEPARATORS ", \t"

#define BIT_OF(member, name) | METRICS_BIT(METRICS_##member)
#define SMALL		     (0u CONF_METRICS_SMALL(BIT_OF))
#define ALL		     (SMALL CONF_METRICS_LARGE(BIT_OF))

#define WORD(member, name)     name,
#define WORD_BIT(member, name) METRICS_BIT(METRICS_##member),

static const char *const words[] = { "default", "all",
				     CONF_METRICS_SMALL(WORD) CONF_METRICS_LARGE(WORD) };
static const uint32_t bits[ARRAY_SIZE(words)] = { SMALL, ALL,
						  CONF_METRICS_SMALL(WORD_BIT)
							  CONF_METRICS_LARGE(WORD_BIT) };

static uint32_t bits_of(const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcmp(words[i], word))
			return bits[i];
	return 0;
}

uint32_t conf_metrics_groups(const char *list)
{
	_cleanup_free_ char *copy = xstrdup(list ? list : "");
	char *rest = copy;
	uint32_t groups = 0;

	for (char *word; (word = strsep(&rest, SEPARATORS));)
		groups |= bits_of(word);
	return groups ? groups : SMALL;
}

static void refuse_word(const struct conf *c, const char *word, struct conf_report *r)
{
	const char *nearest = str_nearest(word, words, ARRAY_SIZE(words));
	char quoted[CONF_QUOTE_MAX];

	conf_report_option(r, CONF_ERROR, c, CONF_ID_metrics_groups,
			   "%s is no group of metrics%s%s%s; it is left out",
			   conf_quote(word, strlen(word), quoted), nearest ? " (did you mean " : "",
			   nearest ? nearest : "", nearest ? "?)" : "");
}

/* Counters are read while perfmgr is TRUE, and after a command on the console. */
static void want_counters(const struct conf *c, uint32_t named, struct conf_report *r)
{
	if (named & (METRICS_BIT(METRICS_PORT_ERRORS) | METRICS_BIT(METRICS_PORT_TRAFFIC)) &&
	    !c->perfmgr && str_equal(c->console, "off"))
		conf_report_option(r, CONF_NOTE, c, CONF_ID_metrics_groups,
				   "port_errors and port_traffic are empty while perfmgr is "
				   "FALSE");
}

void conf_advise_metrics(const struct conf *c, const char *list, struct conf_report *r)
{
	_cleanup_free_ char *copy = xstrdup(list);
	char *rest = copy;
	uint32_t named = 0;

	assert(c && r);
	for (char *word; (word = strsep(&rest, SEPARATORS)); named |= bits_of(word))
		if (*word && !bits_of(word))
			refuse_word(c, word, r);
	want_counters(c, named, r);
}
