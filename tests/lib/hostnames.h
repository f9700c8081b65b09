// SPDX-License-Identifier: BSD-2-Clause
/* Reads host lists of Slurm: n[1-3,07],login. */
#pragma once

#include <stddef.h>

/*
 * The names of a list, at most `max`; NULL: it is no such list. Each name and the array are to be
 * freed.
 */
char **hostlist_expand(const char *list, size_t max, size_t *ret_n);
