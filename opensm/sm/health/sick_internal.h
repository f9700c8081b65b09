// SPDX-License-Identifier: BSD-2-Clause
/* Between the files of sick: findings (sick.c), and the disk (sick_file.c). */
#pragma once

#include "sm/links/marks_internal.h"
#include "sm/health/sick.h"

/* A link with findings. */
struct sick_case {
	uint32_t link;
	enum sick_state state;
	enum health_action action;
	struct link_mark mark; /* of ISOLATED: as if an administrator had made it */
	struct mark_work work;
};

struct sick {
	struct health *judge;
	struct sick_case *all;
	uint32_t n, cap;
	uint32_t n_isolated; /* of these */
	uint32_t cursor; /* of links that are judged in turn */
	mono_t turn_at, look_at;
	struct log_limit log;
	char *path; /* NULL: there is no cache folder */
	mono_t save_at;
	uint64_t version; /* counts changes */
	bool changed, saving, fault_told;
};

struct health_rules sick_rules(const struct conf *conf);
enum health_action sick_action(const struct conf *conf, unsigned conds, bool host);

/* ---- sick_file.c ---- */

void sick_read(struct sm *sm);
/* When it is time, and something changed. */
void sick_save(struct sm *sm);
