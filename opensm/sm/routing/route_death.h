// SPDX-License-Identifier: BSD-2-Clause
/*
 * An engine died: what is written down of it. The fabric as text, the configuration, and the tables
 * it was given go to files in the cache folder, the newest three of each; the log line names the
 * command that replays them.
 */
#pragma once

#include "sm/routing/route_job.h"

/* Number of deaths whose files are kept. */
#define ROUTE_DEATHS_KEPT 3

/* Starts a job that writes the files and logs the death then. `folder` NULL: no files are kept. */
void route_death_keep(struct sm *sm, const char *folder, const struct route_death *death,
		      const struct route_report *report);
