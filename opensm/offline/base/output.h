// SPDX-License-Identifier: BSD-2-Clause
/* The end of what a command prints. */
#pragma once

#include <stdbool.h>

/* All of standard output is written. False: a line on standard error says why not. */
bool output_done(void);
