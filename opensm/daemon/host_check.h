// SPDX-License-Identifier: BSD-2-Clause
/*
 * The host as a configuration needs it: folders and files that can be written, groups,
 * addresses, plugins. Looked at without changing anything and without disturbing a manager that
 * runs.
 */
#pragma once

#include "conf/conf.h"

/* Errors at the options that ask for a thing which is missing. */
void check_surroundings(const struct conf *c, const char *cache_dir, struct conf_report *r);

/* "Error restoring ...: FILE: why" of a state file that cannot be read, to be freed; NULL: none. */
char *check_state_files(const struct conf *c, const char *cache_dir);
