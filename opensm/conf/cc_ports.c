// SPDX-License-Identifier: BSD-2-Clause
#include "conf/cc_ports.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ib/codes.h"
#include "util/str.h"

#define UNSET "(null)"

static const struct {
	const char *word;
	uint16_t where;
} places[] = {
	{ "all", CONF_CC_ALL },
	{ "hosts", CONF_CC_HOSTS },
	{ "switches", CONF_CC_SWITCHES },
};

/* ---- reading --------------------------------------------------------------------------------- */

static int parse_where(const char *word, uint16_t *ret)
{
	const struct ib_speed *speed = ib_speed_named(word, strlen(word));

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		if (strcasecmp(word, places[i].word) == 0) {
			*ret = places[i].where;
			return 0;
		}
	}
	if (!speed)
		return -EINVAL;
	*ret = speed->tenths;
	return 0;
}

/* Reads three numbers with colons between them, each up to its `max`; `text` is changed. */
static int parse_three(char *text, const uint64_t max[3], uint64_t ret[3])
{
	for (unsigned i = 0; i < 3; i++) {
		char *word = strsep(&text, ":");

		if (!word || str_to_u64(word, 0, max[i], &ret[i]) < 0)
			return -EINVAL;
	}
	return text ? -EINVAL : 0;
}

static int parse_marks(char *text, struct conf_cc_port *ret)
{
	static const uint64_t max[3] = { 15, UINT8_MAX, UINT16_MAX };
	uint64_t n[3];

	if (parse_three(text, max, n) < 0)
		return -EINVAL;
	ret->kind = CONF_CC_MARKS;
	ret->threshold = (uint8_t)n[0];
	ret->packet_size = (uint8_t)n[1];
	ret->parameter = (uint16_t)n[2];
	return 0;
}

static int parse_credit(char *text, struct conf_cc_port *ret)
{
	static const uint64_t max[3] = { 15, 3, 0x3FFF };
	uint64_t n[3];

	if (parse_three(text, max, n) < 0)
		return -EINVAL;
	ret->kind = CONF_CC_CREDIT;
	ret->threshold = (uint8_t)n[0];
	ret->parameter = (uint16_t)(n[1] << 14 | n[2]);
	return 0;
}

static int parse_item(char *word, struct conf_cc_port *ret)
{
	char *setting = strchr(word, '=');

	if (!setting)
		return -EINVAL;
	*setting++ = '\0';
	if (parse_where(word, &ret->where) < 0)
		return -EINVAL;
	if (strcasecmp(setting, "off") == 0)
		return 0;
	if (strncasecmp(setting, "credit:", strlen("credit:")) == 0)
		return parse_credit(setting + strlen("credit:"), ret);
	return parse_marks(setting, ret);
}

int cc_ports_parse(const char *text, struct conf_cc_ports *ret)
{
	_cleanup_free_ char *copy = xstrdup(text);
	struct conf_cc_ports list = { 0 };
	char *rest = copy;

	for (char *word; strcmp(text, UNSET) != 0 && (word = strsep(&rest, ",")); list.n++)
		if (list.n == CONF_CC_PORTS_MAX ||
		    parse_item(str_trim(word), &list.items[list.n]) < 0)
			return -EINVAL;
	*ret = list;
	return 0;
}

/* ---- writing --------------------------------------------------------------------------------- */

static char *where_text(uint16_t where)
{
	const struct ib_speed *speed = ib_speed_of(where);
	char *text;

	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (places[i].where == where)
			return xstrdup(places[i].word);
	text = xstrdup(speed ? speed->name : "?");
	for (char *c = text; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	return text;
}

static char *setting_text(const struct conf_cc_port *item)
{
	switch (item->kind) {
	case CONF_CC_MARKS:
		return xasprintf("%u:%u:%u", item->threshold, item->packet_size, item->parameter);
	case CONF_CC_CREDIT:
		return xasprintf("credit:%u:%u:%u", item->threshold, item->parameter >> 14,
				 item->parameter & 0x3FFFu);
	case CONF_CC_OFF:
		break;
	}
	return xstrdup("off");
}

char *cc_ports_text(const struct conf_cc_ports *list)
{
	char *text = xstrdup(list->n ? "" : UNSET);

	for (unsigned i = 0; i < list->n; i++) {
		_cleanup_free_ char *where = where_text(list->items[i].where);
		_cleanup_free_ char *setting = setting_text(&list->items[i]);
		char *longer = xasprintf("%s%s%s=%s", text, i ? "," : "", where, setting);

		free(text);
		text = longer;
	}
	return text;
}
