// SPDX-License-Identifier: BSD-2-Clause
/*
 * Where a plugin is, and whether it may be loaded: loading runs its code with all rights of the
 * manager, so this is decided before.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * The next name in `names`, a value of event_plugin_name, freed by the caller; NULL: there are no
 * more. `*at` begins at 0. The first name ends at a comma or white space, all others at white space
 * only: as in the peer.
 */
char *plugin_file_next_name(const char *names, size_t *at);

/*
 * The path of lib<name>.so with all links followed, freed by the caller; NULL if it is nowhere (or
 * `name` is no name of a file), and why in `why`. Looked for in the program's own folder of
 * plugins, then where the dynamic linker looks.
 */
char *plugin_file_find(const char *name, char *why, size_t why_len);

/*
 * It and every folder above belong to root or to us, and no other user may write there (a folder
 * with the sticky bit is fine: files of ours stay ours there). False: why not in `why`.
 */
bool plugin_file_is_safe(const char *path, char *why, size_t why_len);
