// SPDX-License-Identifier: BSD-2-Clause
/*
 * Watches for secrets on the wire: numbers of 8 bytes that no program of a host may send in clear,
 * such as SM_Key. Looked at is every MAD that leaves a host, with its headers.
 */
#include <string.h>

#include "sim/sim_internal.h"

bool sim_watch_secret(struct sim *sim, uint64_t secret)
{
	struct sim_secret_watch *w = &sim->secret_watch;

	if (w->n_secrets == SIM_SECRETS)
		return false;
	w->secrets[w->n_secrets++] = secret;
	return true;
}

static void note_seen(struct sim_secret_watch *w, uint32_t node, unsigned secret,
		      const uint8_t *mad)
{
	if (w->seen++)
		return;
	w->first = (struct sim_secret_seen){
		.node = (int)node,
		.secret = secret,
		.mgmt_class = (uint8_t)ib_get(mad, SMP_CLASS),
		.method = (uint8_t)ib_get(mad, SMP_METHOD),
		.attr = (uint16_t)ib_get(mad, SMP_ATTR_ID),
	};
}

void secret_watch_look(struct sim *sim, uint32_t node, const uint8_t *mad, size_t length)
{
	struct sim_secret_watch *w = &sim->secret_watch;
	uint8_t bytes[8];

	w->looks += w->n_secrets > 0;
	for (unsigned i = 0; i < w->n_secrets; i++) {
		ib_bits_put(bytes, 0, 64, w->secrets[i]);
		if (memmem(mad, length, bytes, sizeof(bytes)))
			note_seen(w, node, i, mad);
	}
}

const struct sim_secret_watch *sim_secrets_watched(const struct sim *sim)
{
	return &sim->secret_watch;
}
