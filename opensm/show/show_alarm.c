// SPDX-License-Identifier: BSD-2-Clause
/* An alarm as an object: in Alarms, Status and Ports, and in events. */
#include "show/show_internal.h"
#include "sm/alarms/alarms.h"

#define END_FIELDS(F)                                                                              \
	F("node_guid", GUID, e->node)                                                              \
	F("port", KNOWN, e->port, e->port)

static const struct json_field end_fields[] = FIELDS_TABLE(END_FIELDS);

static struct json_object *end_of(const struct alarm_end *e)
{
	return e->node ? FIELDS_NEW(END_FIELDS) : NULL;
}

static struct json_object *further_kinds(const struct alarm *a)
{
	struct json_object *list = json_object_new_array();

	for (enum alarm_kind k = 0; k < ALARM_KINDS; k++)
		if (a->also & 1ULL << k)
			json_append_str(list, alarm_rows[k].name);
	return list;
}

#define ALARM_FIELDS(F)                                                                            \
	F("class", WORD(alarm_class_name, ALARM_CLASSES),                                          \
	  alarm_class_name(alarm_rows[a->kind].class))                                             \
	F("kind", WORD(alarm_kind_name, ALARM_KINDS), alarm_kind_name(a->kind))                    \
	F("object", STR, a->object)                                                                \
	F("node_guid", OPT(GUID), a->at.node)                                                      \
	F("port", KNOWN, a->at.node && a->at.port, a->at.port)                                     \
	F("peer", OPT_OBJECT(end_fields), end_of(&a->far))                                         \
	F("place", OPT_OBJECT(end_fields), end_of(&a->where))                                      \
	F("since", SECONDS, a->since)                                                              \
	F("before_start", BOOL, a->before)                                                         \
	F("cause", STR, a->text)                                                                   \
	F("todo", STR, sm_alarm_todo(a, todo))                                                     \
	F("by", TEXT, a->by)                                                                       \
	F("why", TEXT, a->why)                                                                     \
	F("affected", INT, a->n)                                                                   \
	F("also", OF("[]string"), further_kinds(a))

const struct json_field show_alarm_fields[] = FIELDS_TABLE(ALARM_FIELDS);

struct json_object *show_alarm(const struct alarm *a)
{
	char todo[ALARM_TODO_STRLEN];

	return FIELDS_NEW(ALARM_FIELDS);
}
