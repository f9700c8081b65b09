// SPDX-License-Identifier: BSD-2-Clause
/* What is wrong, and what was taken out of service on purpose: alarms, the severest first. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "api/json.h"
#include "rest/api_fabric.h"
#include "rest/api_internal.h"
#include "rest/api_text.h"
#include "util/mem.h"

/* Classes of the manager, as clients grade them. */
static const struct {
	const char *class, *severity;
} severities[] = {
	{ "fault", "Critical" },
	{ "degraded", "Warning" },
	{ "planned", "Info" },
};

static const char *severity_of(struct json_object *alarm)
{
	for (size_t i = 0; i < ARRAY_SIZE(severities); i++)
		if (!strcmp(severities[i].class, api_str(alarm, "class")))
			return severities[i].severity;
	return severities[0].severity;
}

static bool is_true(struct json_object *o, const char *key)
{
	return json_object_get_boolean(json_object_object_get(o, key));
}

/* Words of a list of the manager. */
static void write_words(struct api_text *t, struct json_object *list)
{
	size_t n = json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;

	for (size_t i = 0; i < n; i++)
		api_text_str(t, NULL, json_object_get_string(json_object_array_get_idx(list, i)));
}

/* "link_down:0123456789abcdef/7": the same as long as the alarm lasts. */
#define ID_STRLEN 80

static void name_alarm(struct json_object *alarm, char ret[ID_STRLEN])
{
	snprintf(ret, ID_STRLEN, "%.40s:%016" PRIx64 "/%d", api_str(alarm, "kind"),
		 api_guid(alarm, "node_guid"), (int)api_int(alarm, "port"));
}

#define ALARM_FIELDS(F)                                                                            \
	F("id", STR, id)                                                                           \
	F("severity", STR, severity_of(alarm))                                                     \
	F("class", STR, api_str(alarm, "class"))                                                   \
	F("kind", STR, api_str(alarm, "kind"))                                                     \
	F("object", STR, api_str(alarm, "object"))                                                 \
	F("node_guid", IF(api_guid(alarm, "node_guid"), GUID), api_guid(alarm, "node_guid"))       \
	F("port", IF(api_int(alarm, "port"), INT), api_int(alarm, "port"))                         \
	F("peer_node_guid", IF(api_guid(peer, "node_guid"), GUID), api_guid(peer, "node_guid"))    \
	F("peer_port", IF(api_int(peer, "port"), INT), api_int(peer, "port"))                      \
	F("since", IF(*api_str(alarm, "since"), STR), api_str(alarm, "since"))                     \
	F("before_start", BOOL, is_true(alarm, "before_start"))                                    \
	F("cause", STR, api_str(alarm, "cause"))                                                   \
	F("todo", STR, api_str(alarm, "todo"))                                                     \
	F("by", IF(*api_str(alarm, "by"), STR), api_str(alarm, "by"))                              \
	F("why", IF(*api_str(alarm, "why"), STR), api_str(alarm, "why"))                           \
	F("affected", INT, api_int(alarm, "affected"))                                             \
	F("also", OF("[]string"), write_words(t, json_object_object_get(alarm, "also")))

static const struct json_field alarm_fields[] = FIELDS_TABLE(ALARM_FIELDS);

static void write_alarm(struct api_text *t, struct json_object *alarm)
{
	struct json_object *peer = json_object_object_get(alarm, "peer");
	char id[ID_STRLEN];

	name_alarm(alarm, id);
	FIELDS_TEXT(t, NULL, ALARM_FIELDS);
}

#define ALARMS_QUERY(Q)                                                                            \
	Q(severity, TEXT, "Critical, Warning or Info")                                             \
	Q(kind, TEXT, "a kind: link_down, host_gone, drained ...")
#define ALARMS_ARGUMENTS(Q) ALARMS_QUERY(Q) API_PAGE_QUERY(Q)

static const struct json_field alarms_query[] = QUERY_TABLE(ALARMS_ARGUMENTS);

struct alarms_asked {
	ALARMS_QUERY(QUERY_MEMBER)
};

static bool is_asked_for(const struct alarms_asked *asked, struct json_object *alarm)
{
	if (asked->severity && strcasecmp(asked->severity, severity_of(alarm)) != 0)
		return false;
	return !asked->kind || !strcmp(asked->kind, api_str(alarm, "kind"));
}

static void write_alarms(struct api_text *t, struct json_object *all,
			 const struct alarms_asked *asked, struct api_page *page)
{
	size_t n = json_object_is_type(all, json_type_array) ? json_object_array_length(all) : 0;

	for (size_t i = 0; i < n; i++) {
		struct json_object *alarm = json_object_array_get_idx(all, i);

		if (is_asked_for(asked, alarm) && api_page_takes(page))
			write_alarm(t, alarm);
	}
}

#define ALARMS_PAGE_FIELDS(F)                                                                      \
	API_PAGE_FIELDS(F, LIST(alarm_fields), page, write_alarms(t, all, asked, page))

static const struct json_field alarms_page_fields[] = FIELDS_TABLE(ALARMS_PAGE_FIELDS);

static void write_alarms_page(struct api_text *t, struct json_object *all,
			      const struct alarms_asked *asked, struct api_page *page)
{
	if (page->is_paged)
		FIELDS_TEXT(t, NULL, ALARMS_PAGE_FIELDS);
	else
		API_TEXT_AROUND(t, NULL, '[', write_alarms(t, all, asked, page), ']');
}

static void answer_alarms(const struct rest_request *q, struct rest_answer *ret)
{
	const struct alarms_asked asked = { ALARMS_QUERY(QUERY_READ) };
	struct rest_error err;
	struct json_object *o;
	struct api_page page;
	struct api_text t;

	if (!api_page_read(q, ret, &page))
		return;
	o = rest_call(q, "Alarms", NULL, &err);
	if (!o) {
		rest_answer_call_error(ret, &err);
		return;
	}
	api_text_start(&t);
	write_alarms_page(&t, json_object_object_get(o, "alarms"), &asked, &page);
	api_text_answer(&t, ret);
	if (api_int(o, "more"))
		rest_answer_header(ret, "X-Not-Listed", "%" PRId64, api_int(o, "more"));
	json_object_put(o);
}

const struct rest_operation api_alarms = {
	.help = "Lists what is wrong or out of service, the severest first, and what to do.",
	.query = alarms_query,
	.gives = REST_GIVES(FIELD_ROW("Alarms", LIST(alarm_fields))
				    FIELD_ROW("AlarmsPage", OBJECT(alarms_page_fields))),
	.answer = answer_alarms,
};
