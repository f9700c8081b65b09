// SPDX-License-Identifier: BSD-2-Clause
/* Words in, text for people out: abbreviations, colours, durations, times; and JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "opensmctl/talk/ctl.h"
#include "util/mem.h"
#include "util/str.h"

int ctl_match(const char *text, const char *const *words)
{
	int found = -1;

	for (int i = 0; words[i]; i++) {
		if (!strcmp(words[i], text))
			return i;
		if (str_starts(words[i], text))
			found = found == -1 ? i : -2;
	}
	return text[0] ? found : -1;
}

const char *ctl_color(const struct ctl *c, enum ctl_color color)
{
	static const char *const codes[] = {
		[CTL_PLAIN] = "\033[0m", [CTL_GOOD] = "\033[32m", [CTL_BAD] = "\033[1;31m",
		[CTL_WARN] = "\033[33m", [CTL_NAME] = "\033[1m",  [CTL_DIM] = "\033[2m",
	};

	return c->color ? codes[color] : "";
}

const char *ctl_duration(int64_t seconds, char ret[static 32])
{
	if (seconds < 60)
		snprintf(ret, 32, "%" PRId64 " s", seconds);
	else if (seconds < 3600)
		snprintf(ret, 32, "%" PRId64 " min %" PRId64 " s", seconds / 60, seconds % 60);
	else if (seconds < 86400)
		snprintf(ret, 32, "%" PRId64 " h %" PRId64 " min", seconds / 3600,
			 seconds % 3600 / 60);
	else
		snprintf(ret, 32, "%" PRId64 " d %" PRId64 " h", seconds / 86400,
			 seconds % 86400 / 3600);
	return ret;
}

const char *ctl_plural(int64_t n, const char *one, char ret[static 64])
{
	snprintf(ret, 64, "%" PRId64 " %s%s", n, one, n == 1 ? "" : "s");
	return ret;
}

char *ctl_place(struct json_object *o)
{
	if (!o)
		return xstrdup("-");
	if (!js_has(o, "name"))
		return xasprintf("%s (not in the fabric)", js_str(o, "port_guid"));
	if (js_int(o, "port"))
		return xasprintf("%.70s/%d", js_str(o, "name"), (int)js_int(o, "port"));
	return xasprintf("%.70s", js_str(o, "name")); /* a switch, by its name */
}

char *ctl_gbps(double gbps, char ret[static 32])
{
	snprintf(ret, 32, "%.4g", gbps);
	return ret;
}

char *ctl_link(struct json_object *o, char ret[static 32])
{
	ret[0] = '\0';
	if (js_int(o, "width"))
		snprintf(ret, 32, "%dx %.8s", (int)js_int(o, "width"), js_str(o, "speed"));
	return ret;
}

char *ctl_list(struct json_object *array, const char *between, char *ret, size_t cap)
{
	size_t len = 0;

	ret[0] = '\0';
	for (size_t i = 0; i < js_len(array) && len + 14 < cap; i++)
		len += (size_t)snprintf(ret + len, cap - len, "%s%s", i ? between : "",
					json_object_get_string(js_at(array, i)));
	return ret;
}

/* ---- times ----------------------------------------------------------------------------------- */

const char *ctl_time(int64_t seconds, char ret[static CTL_TIME_STRLEN])
{
	time_t t = (time_t)seconds;
	size_t len;
	struct tm tm;

	ret[0] = '\0';
	if (!localtime_r(&t, &tm))
		return ret;
	len = strftime(ret, CTL_TIME_STRLEN, "%FT%T%z", &tm);
	/* "+0100" -> "+01:00" */
	if (len > 5 && len + 1 < CTL_TIME_STRLEN) {
		memmove(ret + len - 1, ret + len - 2, 3);
		ret[len - 2] = ':';
	}
	return ret;
}

const char *ctl_time_utc(int64_t seconds, char ret[static CTL_TIME_STRLEN])
{
	time_t t = (time_t)seconds;
	struct tm tm;

	ret[0] = '\0';
	if (gmtime_r(&t, &tm))
		strftime(ret, CTL_TIME_STRLEN, "%FT%TZ", &tm);
	return ret;
}

int64_t ctl_seconds(const char *time)
{
	struct tm tm = { 0 };

	return strptime(time, "%Y-%m-%dT%H:%M:%S", &tm) ? (int64_t)timegm(&tm) : 0;
}

const char *ctl_time_of(struct json_object *o, const char *key, char ret[static CTL_TIME_STRLEN])
{
	int64_t seconds = ctl_seconds(js_str(o, key));

	ret[0] = '\0';
	return seconds ? ctl_time(seconds, ret) : ret;
}

/* ---- JSON ----------------------------------------------------------------------------------- */

void ctl_print_json(const struct ctl *c, struct json_object *value)
{
	int flags = JSON_C_TO_STRING_NOSLASHESCAPE;

	if (c->answers) {
		struct json_object *o = json_object_new_object();

		json_object_object_add(o, "instance", json_object_new_string(c->turn));
		json_object_object_add(o, "answer", json_object_get(value));
		json_object_array_add(c->answers, o);
		return;
	}
	if (c->pretty)
		flags |= JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED;
	printf("%s\n", json_object_to_json_string_ext(value, flags));
}

const char *ctl_copies(struct json_object *answer, char ret[CTL_COPIES_STRLEN])
{
	int64_t n = js_int(answer, "standbys"), with = js_int(answer, "standbys_with");

	if (n)
		snprintf(ret, CTL_COPIES_STRLEN,
			 "stored here and by %" PRId64 " of %" PRId64 " standby%s", with, n,
			 n == 1 ? "" : "s");
	else
		snprintf(ret, CTL_COPIES_STRLEN, "stored here; there is no standby");
	return ret;
}
