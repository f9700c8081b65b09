// SPDX-License-Identifier: BSD-2-Clause
/* How fast a port runs, and could, as its PortInfo has it. */
#include "topo/expect.h"

#include "ib/attrs.h"

struct expect_rate expect_rate_of(const uint8_t *port_info, enum ib_speed_set most)
{
	return (struct expect_rate){
		.width = (uint8_t)ib_link_width(port_info),
		.speed = (uint16_t)ib_link_speed(port_info, most, false),
	};
}

struct expect_rate expect_best_of(const uint8_t *port_info, enum ib_speed_set most)
{
	const struct ib_width *w = ib_widest((unsigned)ib_get(port_info, PI_WIDTH_SUPPORTED));
	struct expect_rate ret = { .width = w ? (uint8_t)w->lanes : 0 };

	for (enum ib_speed_set set = IB_SPEED_PLAIN; set <= most; set++)
		for (size_t i = 0; i < IB_SPEEDS; i++)
			if (ib_speeds[i].bit[set] &
			    ib_speed_bits(port_info, set, IB_SPEED_SUPPORTED))
				ret.speed = MAX(ret.speed, ib_speeds[i].tenths);
	return ret;
}
