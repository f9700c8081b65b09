// SPDX-License-Identifier: BSD-2-Clause
/* Alarms: what is wrong, and what was taken out on purpose. ForgetAlarm: it is gone for good. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "control/control_internal.h"
#include "show/show.h"
#include "sm/alarms/alarms.h"
#include "util/log.h"
#include "util/str.h"

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
	F("watched_since", SECONDS, sm_alarms_since(sm))                                           \
	F("more", INT, not_listed(sm, MIN(most, ALARMS_MAX)))                                      \
	F("alarms", LIST(show_alarm_fields),                                                       \
	  JSON_LIST_OF(, i < most && sm_alarm_at(sm, i), show_alarm(sm_alarm_at(sm, i))))

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
	char guid[24], port[32];

	snprintf(guid, sizeof(guid), "0x%016" PRIx64, a->at.node);
	snprintf(port, sizeof(port), "%s/%u", guid, a->at.port);
	return str_equal(a->object, word) || str_equal(a->at.port ? port : guid, word) ||
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
	bool is_there;
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
	is_there = !a->at.port && fabric_find_node(sm_fabric(api->sm), a->at.node);
	n = is_there ? 0 : sm_alarms_forget(api->sm, a->at.node, a->at.port);
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
