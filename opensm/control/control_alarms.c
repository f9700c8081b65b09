// SPDX-License-Identifier: BSD-2-Clause
/* Alarms: what is wrong, and what was taken out on purpose. ForgetAlarm: it is gone for good. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "control/control_internal.h"
#include "fabric/words.h"
#include "sm/alarms/alarms.h"
#include "util/log.h"
#include "util/str.h"

/* ---- one alarm ------------------------------------------------------------------------------- */

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
	F("class", STR, alarm_class_name(alarm_rows[a->kind].class))                               \
	F("kind", STR, alarm_rows[a->kind].name)                                                   \
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

const struct json_field control_alarm_fields[] = FIELDS_TABLE(ALARM_FIELDS);

struct json_object *control_alarm(const struct alarm *a)
{
	char todo[ALARM_TODO_STRLEN];

	return FIELDS_NEW(ALARM_FIELDS);
}

/* ---- all ------------------------------------------------------------------------------------- */

static int64_t not_listed(struct sm *sm, unsigned listed)
{
	unsigned n = 0;

	for (enum alarm_class c = ALARM_FAULT; c < ALARM_CLASSES; c++)
		n += sm_alarms(sm, c);
	return n - MIN(n, listed);
}

#define ALARMS_FIELDS(F)                                                                           \
	F("master", BOOL, sm_state(sm) == SM_MASTER)                                               \
	F("faults", INT, sm_alarms(sm, ALARM_FAULT))                                               \
	F("degraded", INT, sm_alarms(sm, ALARM_DEGRADED))                                          \
	F("planned", INT, sm_alarms(sm, ALARM_PLANNED))                                            \
	F("more", INT, not_listed(sm, MIN(most, ALARMS_MAX)))                                      \
	F("alarms", LIST(control_alarm_fields),                                                    \
	  JSON_LIST_OF(, i < most && sm_alarm_at(sm, i), control_alarm(sm_alarm_at(sm, i))))

const struct json_field control_alarms_fields[] = FIELDS_TABLE(ALARMS_FIELDS);

struct json_object *control_some_alarms(struct sm *sm, unsigned most)
{
	return FIELDS_NEW(ALARMS_FIELDS);
}

struct json_object *control_alarms(const struct daemon_api *api, struct json_object *parameters,
				   struct control_error *err)
{
	return control_manager(api, err) ? control_some_alarms(api->sm, ALARMS_MAX) : NULL;
}

/* ---- gone for good --------------------------------------------------------------------------- */

/* "a/1 - b/2" is the object "a/1" as well, and "b/2". */
static bool is_called(const struct alarm *a, const char *word)
{
	const char *dash = strstr(a->object, " - ");
	char guid[24];

	snprintf(guid, sizeof(guid), "0x%016" PRIx64, a->at.node);
	return str_equal(a->object, word) || str_equal(guid, word) ||
	       (dash && (str_equal(dash + 3, word) || (strlen(word) == (size_t)(dash - a->object) &&
						       !strncmp(a->object, word, strlen(word)))));
}

static const struct alarm *find(struct sm *sm, const char *word)
{
	const struct alarm *a;

	for (unsigned i = 0; (a = sm_alarm_at(sm, i)); i++)
		if (a->at.node && is_called(a, word))
			return a;
	return NULL;
}

#define FORGET_FIELDS(F)                                                                           \
	F("object", STR, object)                                                                   \
	F("ports", INT, n)

const struct json_field control_forget_alarm_fields[] = FIELDS_TABLE(FORGET_FIELDS);

struct json_object *control_forget_alarm(const struct daemon_api *api,
					 struct json_object *parameters, struct control_error *err)
{
	const char *word = json_str(parameters, "target");
	char object[ALARM_OBJECT_STRLEN];
	const struct alarm *a;
	unsigned n;

	if (!control_manager(api, err))
		return NULL;
	a = find(api->sm, word);
	if (!a)
		return control_fail(err, "NotFound",
				    "no alarm is about '%.100s': opensmctl alarms lists the "
				    "objects of all",
				    word);
	snprintf(object, sizeof(object), "%s", a->object);
	n = sm_alarms_forget(api->sm, a->at.node, a->at.port);
	if (!n)
		return control_fail(err, "InvalidParameter",
				    "'%.150s' is there: only devices and cables that are gone can "
				    "be forgotten",
				    object);
	log_info("%s is forgotten, as an administrator asked: it does not count as gone any more",
		 object);
	api->wake(api->arg);
	return FIELDS_NEW(FORGET_FIELDS);
}
