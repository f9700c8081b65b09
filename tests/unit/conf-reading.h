// SPDX-License-Identifier: BSD-2-Clause
/* For tests of conf/: text read as opensm.conf, its findings, a second value of every option. */
#pragma once

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "conf/conf.h"
#include "util/mem.h"

#define FILE_NAME "opensm.conf"

/* A configuration and what was found in it. */
struct reading {
	struct conf *conf;
	struct conf_report report;
};

static inline void reading_clear(struct reading *x)
{
	conf_unref(x->conf);
	conf_report_clear(&x->report);
}

static inline struct reading read_text(const char *text)
{
	struct reading x = { .conf = conf_new() };

	assert_int_equal(conf_read_text(x.conf, FILE_NAME, text, strlen(text), &x.report), 0);
	return x;
}

/* The only finding that contains `part`; fails when there is none or another. */
static inline const struct conf_finding *finding(const struct conf_report *r, const char *part)
{
	const struct conf_finding *found = NULL;

	for (size_t i = 0; i < r->n; i++) {
		if (!strstr(r->findings[i].text, part))
			continue;
		if (found)
			fail_msg("\"%s\" found twice: %s", part, r->findings[i].text);
		found = &r->findings[i];
	}
	if (!found)
		fail_msg("no finding says \"%s\"", part);
	return found;
}

static inline void assert_value(const struct conf *c, const char *key, const char *expected)
{
	enum conf_id id = conf_option_find(key);
	_cleanup_free_ char *text = NULL;

	assert_int_not_equal(id, CONF_N_OPTIONS);
	text = conf_value_text(c, id);
	assert_string_equal(text, expected);
}

/* A value that differs from the default, for every type. */
static inline const char *other_value(const struct conf_option *o)
{
	switch (o->type) {
	case CONF_BOOL:
		return strcmp(o->default_text, "TRUE") == 0 ? "FALSE" : "TRUE";
	case CONF_U8:
	case CONF_U16:
	case CONF_U32:
	case CONF_I32:
	case CONF_U64:
		if (strcmp(o->name, "periodic_key_update") == 0)
			return "10";
		if (strcmp(o->name, "cc_key_protect_bit") == 0)
			return "0";
		return strcmp(o->default_text, "2") == 0 ? "3" : "2";
	case CONF_STRING:
		if (strcmp(o->name, "console") == 0)
			return "local";
		if (strcmp(o->name, "metrics_groups") == 0)
			return "cables";
		if (strcmp(o->name, "allowed_sm_guids") == 0)
			return "0x2c90300000001, 0x2c90300000002";
		if (strcmp(o->name, "partition_config_error") == 0)
			return "keep";
		if (strcmp(o->name, "security_violation_policy") == 0)
			return "isolate";
		if (strcmp(o->name, "guid_location_policy") == 0)
			return "hold";
		if (strcmp(o->range, "off|warn|enforce") == 0)
			return "enforce";
		if (strcmp(o->name, "default_membership") == 0)
			return "limited";
		if (strncmp(o->name, "hm_", 3) == 0 && strstr(o->name, "_action"))
			return "disable";
		if (strcmp(o->name, "cc_profile") == 0)
			return "incast";
		if (strcmp(o->name, "security_profile") == 0)
			return "guarded";
		return strcmp(o->name, "part_enforce") == 0 ? "in" : "/some/file";
	case CONF_MASK256:
		return "0x123456789abcdef";
	case CONF_CCT_ENTRY:
		return "3:16383";
	case CONF_CCT_LIST:
		return "0:1,1:2,3:16383";
	case CONF_CC_PORTS:
		return "all=off,hosts=15:8:0,ndr=credit:5:1:300";
	case CONF_SL_U16:
	case CONF_SL_U8:
		return "15 200";
	}
	return NULL;
}
