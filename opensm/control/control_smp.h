// SPDX-License-Identifier: BSD-2-Clause
/* Between the files of the methods Smp and Mark. */
#pragma once

#include "control/control_internal.h"

/*
 * Finds the device of a word: path, and port if it is known. False: `err` says that there is none,
 * or that there are several.
 */
bool control_smp_find(const struct fabric *f, const char *word, struct sm_smp *ret,
		      struct control_error *err);
/*
 * Finds a switch, host or port: NAME, NAME/PORT, GUID, GUID/PORT. `ret_port` 0: no port was named.
 * A GUID with a port need not be known. False: `err` says why; if a GUID is not known, it is in
 * `ret_node`, and `ret_port` is 0.
 */
bool control_find_place(const struct fabric *f, const char *word, guid_t *ret_node,
			unsigned *ret_port, struct control_error *err);
