// SPDX-License-Identifier: BSD-2-Clause
/* P_Key tables of ports. */
#include "sync/impl.h"

bool pkey_feed_trim(struct sync *s)
{
	return false;
}

bool pkey_feed_ends(struct sync *s)
{
	return false;
}

bool pkey_feed_checks(struct sync *s)
{
	return false;
}

bool pkey_is_settled(struct sync *s, const struct port *p)
{
	return true;
}

bool pkey_enforcement(struct sync *s, const struct port *p, uint8_t *ret)
{
	return false;
}
