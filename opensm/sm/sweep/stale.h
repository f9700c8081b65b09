// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tables of a vendor beside the forwarding tables. A manager that ran the fabric with adaptive
 * routing leaves them in switches, which go on forwarding by them until a block of their linear
 * table is written: the sync itself writes no table that is right already. The quirk stale_tables
 * names such switches.
 */
#pragma once

struct sm;

/*
 * Called when routes are about to be written. In the first sweep as MASTER, if no manager of ours
 * set up the fabric before, has one block of each such switch written, whatever it holds.
 */
void stale_renew(struct sm *sm);
