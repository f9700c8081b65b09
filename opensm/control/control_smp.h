// SPDX-License-Identifier: BSD-2-Clause
/* Between the files of the method Smp. */
#pragma once

#include "control/control_internal.h"

/*
 * The device that a word stands for: path, and port if it is known. False: none, or several; `err`
 * says so.
 */
bool control_smp_find(const struct fabric *f, const char *word, struct sm_smp *ret,
		      struct control_error *err);
