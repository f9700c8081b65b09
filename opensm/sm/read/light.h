// SPDX-License-Identifier: BSD-2-Clause
/* The light sweep: asks whether anything has changed (light.c), and audits tables (audit.c). */
#pragma once

#include <stdbool.h>

struct sm;
struct sm_paths;

void light_start(struct sm *sm);
bool light_busy(const struct sm *sm);
/*
 * Called when all answers have arrived: if nothing had changed and all answered, what was written
 * reached the right devices.
 */
void light_settle(struct sm *sm);
/*
 * Asks some nodes for their descriptions, and some for tables, in turn: in a light sweep, and after
 * a heavy sweep if all sweeps are heavy.
 */
void light_audit(struct sm *sm);
