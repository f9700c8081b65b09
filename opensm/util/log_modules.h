// SPDX-License-Identifier: BSD-2-Clause
/*
 * Levels of single source files, beside those of all (per_module_logging_file). A module is a folder
 * ("sa/") or a file with its folder ("sm/traps.c"; "opensm/daemon.c" for what is in none).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct log_module {
	const char *name;
	unsigned mask; /* enum log_bits, added to those of all */
};

/* The last folder of a path, and the file in it: "sm/traps.c" of "../../opensm/sm/traps.c". */
const char *log_module_of(const char *file);
/* Is `file`, as the compiler names it, in the module? */
bool log_module_has(const char *name, const char *file);
/* What `modules` add for `file`. */
unsigned log_modules_mask(const struct log_module *modules, size_t n, const char *file);
