// SPDX-License-Identifier: BSD-2-Clause
/* The kinds of alarms (alarm_kinds.def) as an enumeration and a table. */
#pragma once

enum alarm_class { ALARM_FAULT, ALARM_DEGRADED, ALARM_PLANNED, ALARM_NO_ALARM };
#define ALARM_CLASSES (ALARM_PLANNED + 1)

enum alarm_about { ABOUT_MANAGER, ABOUT_NODE, ABOUT_CABLE, ABOUT_PORT };

enum alarm_kind {
#define KIND(id, ...) ALARM_##id,
#include "sm/base/alarm_kinds.def"
#undef KIND
	ALARM_KINDS,
	ALARM_NONE = ALARM_KINDS
};

struct alarm_row {
	enum alarm_class class;
	enum alarm_about about;
	const char *name;  /* "link_down" */
	const char *cause; /* "the link is down" */
	const char *todo;  /* next step of an administrator */
};
extern const struct alarm_row alarm_rows[ALARM_KINDS];

const char *alarm_class_name(enum alarm_class class); /* "fault", "degraded", "planned" */
const char *alarm_kind_name(enum alarm_kind kind);	 /* "link_down" */
