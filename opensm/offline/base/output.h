// SPDX-License-Identifier: BSD-2-Clause
/* The end of what a command prints. */
#pragma once

#include <stdbool.h>

/* Was all of standard output written? False: an error is printed on standard error. */
bool output_done(void);
