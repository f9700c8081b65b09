// SPDX-License-Identifier: BSD-2-Clause
/*
 * Host lists as Slurm, pdsh and others write them: n[1-4,7],login. Numbers at the end of a name
 * make ranges; leading zeros are kept: n08, n09, n10 are n[08-10].
 */
#pragma once

#include <stddef.h>

/*
 * `names`: n different names of letters, digits, '.', '_', '-'; their order changes. Returns the
 * list, to be freed; "" for none.
 */
char *hostlist_compress(char **names, size_t n);
