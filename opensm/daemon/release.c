// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/release.h"

#include <stdio.h>

#include "util/log.h"
#include "util/mem.h"

#define PATIENCE (30 * MONO_S) /* for the first sweep */

bool release_is_refused(const struct sm *sm, mono_t since_start)
{
	if (sm_state(sm) == SM_STANDBY)
		log_sys("Another subnet manager is master: nothing is released");
	else if (!sm_stats(sm)->heavy_sweeps && since_start >= PATIENCE)
		log_sys("The subnet cannot be read (the log says why): nothing is released");
	else
		return false;
	return true;
}

bool release_waits(const struct sm *sm, const struct cc *cc)
{
	return sm_conf(sm)->congestion_control && !cc_is_settled(cc);
}

/* ", 54 of 54 no CC_Key"; the number of those that have one, or that did not say. */
static unsigned cc_text(const struct sm *sm, const struct cc *cc, char *ret, size_t len)
{
	struct cc_status st;
	unsigned n = 0;

	ret[0] = '\0';
	if (!sm_conf(sm)->congestion_control)
		return 0;
	cc_status(cc, &st);
	for (enum cc_state state = 0; state < CC_STATES; state++)
		n += st.ports[state];
	snprintf(ret, len, ", %u of %u no CC_Key", n - st.wrong_key, n);
	return st.wrong_key;
}

bool release_is_done(const struct sm *sm, const struct cc *cc)
{
	char left_out[1000], cc_keys[64];
	unsigned n_left_out = sm_left_out(sm, left_out, sizeof(left_out));
	unsigned n_cc_keys = cc_text(sm, cc, cc_keys, sizeof(cc_keys));
	struct sm_keys keys;

	sm_keys(sm, &keys);
	log_sys("Released: %u of %u ports have no M_Key%s%s%s", keys.n_right, keys.n_ports, cc_keys,
		n_left_out ? "; not reached or left out: " : "", left_out);
	return keys.n_right == keys.n_ports && !n_left_out && !n_cc_keys;
}
