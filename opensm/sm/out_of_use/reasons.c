// SPDX-License-Identifier: BSD-2-Clause
/* The table of reasons not to use a link. */
#include "sm/out_of_use/bad_cable.h"

const struct reason reasons[OUT_REASONS] = {
	[OUT_COMPLAINS] = { .told = true, .then = "nothing is routed over it for now" },
	[OUT_FLAPS] = { .host = true, .held = true, .told = true },
	[OUT_HEALTH] = { .host = true,
			 .held = true,
			 .taken_down = true,
			 .lasts = true,
			 .words = "it is isolated for its health (opensmctl health)" },
	[OUT_DRAINED] = { .own_switch = true,
			  .by_order = true,
			  .words = "it is drained by an administrator" },
	[OUT_ISOLATED] = { .host = true,
			   .held = true,
			   .taken_down = true,
			   .own_switch = true,
			   .by_order = true,
			   .words = "it is isolated by an administrator" },
	[OUT_UNEXPECTED] = { .host = true,
			     .held = true,
			     .taken_down = true,
			     .judged = true,
			     .told = true,
			     .words = "it is not in the expected topology",
			     .then = "it is held in INIT" },
	[OUT_RETURNS] = { .host = true, .words = "it is not ACTIVE yet" },
	[OUT_STUCK] = { .lasts = true,
			.told = true,
			.words = "it does not become ACTIVE",
			.then = "nothing is routed over it for now" },
};

enum out_reason reason_worst(unsigned bits)
{
	for (unsigned i = OUT_REASONS; i-- > 0;)
		if (bits & BIT(i))
			return (enum out_reason)i;
	return OUT_REASONS;
}
