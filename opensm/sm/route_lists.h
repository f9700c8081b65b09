// SPDX-License-Identifier: BSD-2-Clause
/* The list files that routing reads, turned into route_options. Read again for every computation. */
#pragma once

#include "conf/conf.h"
#include "route/engine.h"
#include "sm/route_job.h"

struct route_lists {
	struct route_options options;
	guid_t *order;
	struct route_guid_port *ignore, *weights;
};

/* Findings become notes of `report`; a bad line leaves the others in force. */
void route_lists_read(struct route_lists *lists, const struct conf *conf,
		      struct route_report *report);
void route_lists_free(struct route_lists *lists);
