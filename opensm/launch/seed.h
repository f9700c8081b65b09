// SPDX-License-Identifier: BSD-2-Clause
/* The cache folder of a named instance, filled once from the cache of the unnamed instance. */
#pragma once

/*
 * Makes CACHE_DIR/NAME if it is not there, whole or not at all, with copies of guid2lid, guid2mkey
 * and neighbors of CACHE_DIR: LIDs survive the change from one instance to several. 0 or -errno.
 */
int seed_cache(const char *cache_dir, const char *name);
