// SPDX-License-Identifier: BSD-2-Clause
/*
 * SwitchPortStateTable: the states of all ports of a switch in one Get, where PortInfo takes one
 * for each port. A switch has it if its port 0 says so (CapabilityMask2 bit 3), and if it did
 * neither refuse it nor tell three times in a row of changes that reading its ports did not
 * confirm: such a switch is read port by port for good.
 */
#pragma once

#include <stdbool.h>

struct mad_result;
struct node;
struct sm;

bool port_states_has(const struct sm *sm, const struct node *n);

/*
 * The answer to the question for the table. True: the states are those known. False: they are not,
 * or were not told, and the ports are to be read.
 */
bool port_states_same(struct sm *sm, struct node *n, const struct mad_result *r);
