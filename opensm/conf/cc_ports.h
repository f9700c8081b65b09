// SPDX-License-Identifier: BSD-2-Clause
/*
 * The value of cc_sw_port_cong_setting: settings of congestion control for single ports of
 * switches, as 'PORTS=SETTING,...'.
 */
#pragma once

#include "conf/conf.h"

#define CC_PORTS_EXPECTED                                                                          \
	"up to 16 PORTS=THRESHOLD:PACKET_SIZE:RATE (0-15, 0-255, 0-65535), "                       \
	"PORTS=credit:THRESHOLD:SHIFT:MULTIPLIER (0-15, 0-3, 0-16383) or PORTS=off, and commas; "  \
	"PORTS is all, hosts, switches or a speed (sdr ... xdr)"

/* Returns 0 or -EINVAL. The text "(null)" is the empty list. */
int cc_ports_parse(const char *text, struct conf_cc_ports *ret);
/* The text of a list, to be freed. */
char *cc_ports_text(const struct conf_cc_ports *list);
