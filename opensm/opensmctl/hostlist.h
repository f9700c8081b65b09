// SPDX-License-Identifier: BSD-2-Clause
/*
 * Host lists as Slurm, pdsh and others write them: n[1-4,7],login. Numbers at the end of a name make ranges;
 * leading zeros are kept: n08, n09, n10 are n[08-10].
 */
#pragma once

#include <stddef.h>

/*
 * `names`: n different names of letters, digits, '.', '_', '-'; their order changes. Returns the list, to be
 * freed; "" for none.
 */
char *hostlist_compress(char **names, size_t n);
/*
 * The other way round: an array of *ret_n names in the order of the list, each and the array to be freed.
 * NULL: not such a list, or more than `max` names.
 */
char **hostlist_expand(const char *list, size_t max, size_t *ret_n);
