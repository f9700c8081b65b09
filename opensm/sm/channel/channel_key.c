// SPDX-License-Identifier: BSD-2-Clause
/*
 * Keys in force, which managers prove to each other, and random numbers: the life of this process,
 * and the secret for its nonces. Drawn when the first manager is met.
 */
#include <string.h>

#include "sm/base/drawn_key.h"
#include "sm/channel/channel_internal.h"

#define WELL_KNOWN 1 /* default sm_key and sa_key of all subnet managers */

static bool is_secret(uint64_t key)
{
	return key && key != WELL_KNOWN;
}

bool channel_is_secret(const struct sm *sm)
{
	return !conf_draws_sa_key(sm->conf) && is_secret(sm_sm_key(sm)) &&
	       is_secret(sm->conf->sa_key);
}

static bool draw_own(struct sm *sm)
{
	struct channel *c = sm->m.channel;

	if (!c->is_drawn)
		c->is_drawn = sm_draw(sm, &c->life, sizeof(c->life)) &&
			      sm_draw(sm, c->own.bytes, sizeof(c->own.bytes));
	c->life |= 1; /* never 0, which stands for none */
	return c->is_drawn;
}

uint64_t channel_own_life(struct sm *sm)
{
	draw_own(sm);
	return sm->m.channel->life;
}

bool channel_keys_changed(const struct sm *sm)
{
	const struct channel *c = sm->m.channel;

	return c->has_secret && (conf_draws_sa_key(sm->conf) || c->sm_key != sm_sm_key(sm) ||
				 c->sa_key != sm->conf->sa_key);
}

void channel_forget_keys(struct channel *c)
{
	c->has_secret = false;
	c->sm_key = c->sa_key = 0;
	explicit_bzero(&c->secret, sizeof(c->secret));
}

/* Can the channel be used? A key drawn at random is known to no other manager. */
bool channel_is_ready(struct sm *sm)
{
	struct channel *c = sm->m.channel;

	if (sm->state == SM_NOT_ACTIVE || conf_draws_sa_key(sm->conf) || channel_keys_changed(sm) ||
	    !draw_own(sm))
		return false;
	if (!c->has_secret) {
		c->sm_key = sm_sm_key(sm);
		c->sa_key = sm->conf->sa_key;
		channel_secret_make(c->sm_key, c->sa_key, &c->secret);
		c->has_secret = true;
	}
	return true;
}
