// SPDX-License-Identifier: BSD-2-Clause
/* Reads all input of choose(). */
#pragma once

#include "launch/choose.h"
#include "launch/paths.h"

/*
 * Fills `ret` from the present contents of the files; `ports` are the ports of the host. 0 or
 * -errno: a settings file that cannot be understood, or a folder that cannot be read; `ret` is
 * empty then, and the first error in `r` says where.
 */
int gather(const struct launch_paths *p, const uint64_t *ports, size_t n_ports, struct choice *ret,
	   struct conf_report *r);
/* The first finding of CONF_ERROR as one line, to be freed; NULL: none. */
char *gather_first_error(const struct conf_report *r);
