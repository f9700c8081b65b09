// SPDX-License-Identifier: BSD-2-Clause
/*
 * The word before a member of struct node, struct port and what they hold names the one folder that
 * writes it; all others read. tests/check/writers.sh compiles every folder with the words of the
 * others as `const`.
 */
#pragma once

#ifndef FACT
#define FACT	 /* fabric/ (observe.h): what devices said, and what follows from silence */
#define OF_BASE	 /* sm/base */
#define OF_TRUST /* sm/trust */
#define OF_OUT	 /* sm/out_of_use */
#define OF_READ	 /* sm/read */
#define OF_SWEEP /* sm/sweep */
#define OF_SYNC	 /* sync/ */
#endif
