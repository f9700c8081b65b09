// SPDX-License-Identifier: BSD-2-Clause
/* Between the files of the methods Smp and Mark. */
#pragma once

#include "control/control_internal.h"

/*
 * The device that a word stands for: path, and port if it is known. False: none, or several; `err`
 * says so.
 */
bool control_smp_find(const struct fabric *f, const char *word, struct sm_smp *ret,
		      struct control_error *err);
/*
 * A switch, a host or a port that a word stands for: NAME, NAME/PORT, GUID, GUID/PORT. `ret_port`
 * 0: no port was named. A GUID with a port need not be known. False: `err` says why; with a GUID
 * that is not known `ret_node` has it, and `ret_port` is 0.
 */
bool control_find_place(const struct fabric *f, const char *word, guid_t *ret_node,
			unsigned *ret_port, struct control_error *err);
