// SPDX-License-Identifier: BSD-2-Clause
/*
 * crypt(3). Each call of password_fits() and password_new_hash() takes tens of milliseconds and up
 * to 16 MB of memory for its time; they may run in several threads.
 */
#pragma once

#include <stdbool.h>

#define PASSWORD_MAX 256 /* bytes, without NUL */

/* A hash that takes the usual time to verify, and fits no password. */
#define PASSWORD_DUMMY                                                                             \
	"$y$j9T$KUGPJQ4sDK0hZ0hYjGVhO1$"                                                           \
	"..........................................."

/* A whole hash of a method that is not out of date. */
bool password_hash_is_valid(const char *hash);
bool password_fits(const char *password, const char *hash);
/* To be freed; NULL: no hash can be made. */
char *password_new_hash(const char *password);
