// SPDX-License-Identifier: BSD-2-Clause
/* alarms: what is wrong, and what was taken out on purpose; forgetting what is gone for good. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opensmctl/talk/ctl.h"
#include "util/mem.h"

static char *since_text(struct json_object *alarm)
{
	char time[CTL_TIME_STRLEN];

	if (js_has(alarm, "since"))
		return xstrdup(ctl_time_of(alarm, "since", time));
	return xstrdup(js_bool(alarm, "before_start") ? "before the start" : "-");
}

static enum ctl_color tint(struct json_object *alarm)
{
	const char *class = js_str(alarm, "class");

	if (!strcmp(class, "fault"))
		return CTL_BAD;
	return strcmp(class, "planned") ? CTL_WARN : CTL_DIM;
}

static const struct column columns[] = {
	{ "CLASS", COLUMN_STR, .key = "class", .tint = tint },
	{ "OBJECT", COLUMN_STR, .key = "object", .color = CTL_NAME },
	{ "CAUSE", COLUMN_STR, .key = "cause", .folds = true },
	{ "SINCE", COLUMN_STR, .key = "since", .text = since_text },
	{ "WHAT TO DO", COLUMN_STR, .key = "todo", .folds = true },
	{ 0 },
};

void ctl_print_alarms(const struct ctl *c, struct json_object *answer)
{
	struct json_object *alarms = js_get(answer, "alarms");

	if (js_len(alarms))
		ctl_print_table(c, columns, alarms);
	if (js_int(answer, "more") && !c->oneline)
		printf("and %" PRId64 " more\n", js_int(answer, "more"));
}

char *ctl_alarm_counts(struct json_object *answer, char ret[CTL_ALARM_COUNTS])
{
	char faults[64];

	snprintf(ret, CTL_ALARM_COUNTS, "%s, %" PRId64 " degraded, %" PRId64 " planned",
		 ctl_plural(js_int(answer, "faults"), "fault", faults), js_int(answer, "degraded"),
		 js_int(answer, "planned"));
	return ret;
}

static void print_alarms(struct ctl *c, struct json_object *answer, struct json_object *asked)
{
	char others[] = "the master looks at the fabric, which this manager is not: here are its "
			"own alarms\n";
	char counts[CTL_ALARM_COUNTS], *text;

	if (js_has(asked, "target")) {
		printf("%s is forgotten by this manager: it does not count as gone any more\n",
		       js_str(answer, "object"));
		return;
	}
	ctl_print_alarms(c, answer);
	if (c->oneline)
		return;
	if (!js_bool(answer, "master"))
		ctl_print_folded(c, others, 2);
	ctl_alarm_counts(answer, counts);
	if (js_has(answer, "watched_since"))
		text = xasprintf("%s; watched since %s: what had gone before is not known\n",
				 counts, js_str(answer, "watched_since"));
	else
		text = xasprintf("%s\n", counts);
	ctl_print_folded(c, text, 2);
	free(text);
}

static int with_words(struct ctl *c)
{
	static const struct ctl_command list = { .method = "Alarms", .print = print_alarms },
					forget = { .method = "ForgetAlarm", .print = print_alarms };

	return ctl_show(c, js_has(c->words, "target") ? &forget : &list, json_object_get(c->words));
}

const struct ctl_command ctl_alarms = {
	.name = "alarms",
	.arguments = "[--forget OBJECT]",
	.help = "what is wrong: faults, degraded links, planned work; each with what to do",
	.words = "--forget",
	.scope = CTL_SHOWS_BARE,
	.takes = (const struct ctl_word[]){ { CTL_TEXT, .option = "--forget", .parameter = "target",
					      .offers = OFFER_ALARMS },
					    { 0 } },
	.document = "Alarms",
	.with = with_words,
};
