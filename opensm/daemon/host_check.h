// SPDX-License-Identifier: BSD-2-Clause
/*
 * The host as a configuration needs it: folders and files that can be written, groups, addresses,
 * plugins. The checks change nothing and do not disturb a running manager.
 */
#pragma once

#include "conf/conf.h"

/* Adds an error for each option that needs something which the host lacks. */
void check_surroundings(const struct conf *c, const char *cache_dir, struct conf_report *r);

/* "Error restoring ...: FILE: why" of a state file that cannot be read, to be freed; NULL: none. */
char *check_state_files(const struct conf *c, const char *cache_dir);
