// SPDX-License-Identifier: BSD-2-Clause
/* The light sweep: asks whether anything has changed (light.c), and audits tables (audit.c). */
#pragma once

#include <stdbool.h>

struct light;
struct sm;
struct sm_paths;

void light_new(struct sm *sm, const struct sm_paths *paths);
void light_free(struct sm *sm);
void light_start(struct sm *sm);
bool light_busy(const struct sm *sm);
/*
 * All answers are there: if nothing had changed, and all answered, what was written went where it
 * should.
 */
void light_settle(struct sm *sm);
/*
 * Asks some nodes for their descriptions, and for some of their tables, in turn: as a light sweep
 * does, after a heavy one where all are heavy.
 */
void light_audit(struct sm *sm);
