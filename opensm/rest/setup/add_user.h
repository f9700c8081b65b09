// SPDX-License-Identifier: BSD-2-Clause
/* opensm-rest --add-user */
#pragma once

#include <stdbool.h>

#include "rest/auth/users.h"

struct add_user {
	const char *name, *right;
	const char *sans[USER_SANS_MAX];
	size_t n_sans;
	bool no_password;
};

/*
 * Adds the entry, or replaces that of the same name, in the file of users that the configuration
 * names. Asks for the password. Returns the exit status.
 */
int add_user(const struct add_user *add, const char *conf_path);
