// SPDX-License-Identifier: BSD-2-Clause
/*
 * A key for trusted requests, drawn at random. It is drawn whether the configuration asks for one
 * or not, as that may change at run time.
 */
#include "sm/base/drawn_key.h"

#include <string.h>
#include <sys/random.h>

/* Values with a meaning, the default, and keys that are used elsewhere are not. */
static bool is_usable(const struct sm *sm, uint64_t key)
{
	return key > 1 && key != UINT64_MAX && key != sm->conf->sa_key && key != sm->conf->sm_key &&
	       key != sm->conf->m_key;
}

void drawn_key_new(struct sm *sm)
{
	do {
		/* Up to 256 bytes come whole, whatever signals there are: getrandom(2). */
		if (getrandom(&sm->drawn_key, sizeof(sm->drawn_key), 0) !=
		    (ssize_t)sizeof(sm->drawn_key)) {
			sm->drawn_key = 0; /* no request is a trusted one then */
			log_error("no random numbers are there: a key for trusted requests cannot "
				  "be drawn");
			return;
		}
	} while (!is_usable(sm, sm->drawn_key));
	sa_set_drawn_key(sm->sa, sm->drawn_key);
}

void drawn_key_free(struct sm *sm)
{
	explicit_bzero(&sm->drawn_key, sizeof(sm->drawn_key));
}

uint64_t sm_sa_key(const struct sm *sm)
{
	return conf_draws_sa_key(sm->conf) ? sm->drawn_key : sm->conf->sa_key;
}
