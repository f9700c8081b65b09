// SPDX-License-Identifier: BSD-2-Clause
/*
 * security_profile: one word that gives several options another default.
 *
 * An option that has a line in the file, was given on the command line or was copied from the
 * master is not touched, wherever the line of the profile stands. Keys are never set by a profile.
 * The rows are in profile.c, one per option; the guide security.md shows them as a table.
 */
#pragma once

#include "conf/conf.h"

/* The profile in force: that of security_profile, or the strictest if its line is faulty. */
enum conf_profile conf_profile(const struct conf *c);
/* The value that a profile gives an option, as in the file; NULL: the option keeps its own. */
const char *conf_profile_value(enum conf_profile profile, enum conf_id id);
/*
 * Gives each option of the profile its value, and those of a former profile their defaults. Called
 * by conf_verify(), before the rules between values.
 */
void conf_profile_apply(struct conf *c, struct conf_report *r);
