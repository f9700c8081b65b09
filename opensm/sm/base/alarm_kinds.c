// SPDX-License-Identifier: BSD-2-Clause
/* The kinds of alarms as a table. */
#include "sm/base/alarm_kinds.h"

#include <assert.h>

const struct alarm_row alarm_rows[ALARM_KINDS] = {
#define KIND(id, class, about, ...) [ALARM_##id] = { ALARM_##class, ABOUT_##about, __VA_ARGS__ },
#include "sm/base/alarm_kinds.def"
#undef KIND
};

const char *alarm_class_name(enum alarm_class class)
{
	static const char *const names[ALARM_CLASSES] = {
		[ALARM_FAULT] = "fault", [ALARM_DEGRADED] = "degraded", [ALARM_PLANNED] = "planned"
	};

	assert(class < ALARM_CLASSES);
	return names[class];
}

const char *alarm_kind_name(enum alarm_kind kind)
{
	assert(kind < ALARM_KINDS);
	return alarm_rows[kind].name;
}
