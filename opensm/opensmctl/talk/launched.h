// SPDX-License-Identifier: BSD-2-Clause
/*
 * What opensm-launch says of its instances (instances.json): also of those that do not run, and
 * therefore answer nothing.
 */
#pragma once

#include "opensmctl/talk/ctl.h"

/* The file; an empty object where there is none. To be put. */
struct json_object *launched_read(const struct ctl *c);
/* The instance of this name; NULL: none. Of `launched`. */
struct json_object *launched_find(struct json_object *launched, const char *name);
/* Its unit has failed: for good, or after too many ends in a row. */
bool launched_fails(struct json_object *instance);
/* "failed", "waiting", ...; "gone": it has no process though it should. */
const char *launched_state(struct json_object *instance);
/*
 * Why there is no instance at all, in the launcher's words; "" where that is not known. Of
 * `launched`.
 */
const char *launched_why_none(struct json_object *launched);
/* "2026-11-22T20:14:03+01:00", of the state the instance is in. Returns `ret`. */
const char *launched_since(struct json_object *instance, char ret[static CTL_TIME_STRLEN]);
