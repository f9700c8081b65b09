// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/release.h"

#include <stdio.h>

#include "util/log.h"
#include "util/mem.h"

#define PATIENCE (30 * MONO_S) /* for the first sweep */

static void tell_end(const char *line)
{
	log_sys("%s", line);
	printf("%s\n", line);
}

bool release_is_refused(const struct sm *sm, mono_t since_start)
{
	if (sm_state(sm) == SM_STANDBY)
		tell_end("Another subnet manager is master: nothing is released");
	else if (!sm_stats(sm)->heavy_sweeps && since_start >= PATIENCE)
		tell_end("The subnet cannot be read (the log says why): nothing is released");
	else
		return false;
	return true;
}

bool release_is_done(const struct sm *sm)
{
	char left_out[1000];
	unsigned n_left_out = sm_left_out(sm, left_out, sizeof(left_out));
	_cleanup_free_ char *line = NULL;
	struct sm_keys keys;

	sm_keys(sm, &keys);
	line = xasprintf("Released: %u of %u ports have no M_Key%s%s", keys.n_right, keys.n_ports,
			 n_left_out ? "; not reached or left out: " : "", left_out);
	tell_end(line);
	return keys.n_right == keys.n_ports && !n_left_out;
}
