// SPDX-License-Identifier: BSD-2-Clause
/*
 * The path of a plugin, and whether it may be loaded: loading runs its code with all rights of the
 * manager, so this is decided before.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Returns the next name in `names`, a value of event_plugin_name, freed by the caller; NULL: there
 * are no more. `*at` is 0 at first. The first name ends at a comma or white space, all others at
 * white space only, as in OpenSM.
 */
char *plugin_file_next_name(const char *names, size_t *at);

/*
 * Returns the path of lib<name>.so with all links followed, freed by the caller. NULL with `why`:
 * there is no such file, or `name` is no file name. The folder of plugins of the program is
 * searched first, then those of the dynamic linker.
 */
char *plugin_file_find(const char *name, char *why, size_t why_len);

/*
 * Do the file and every folder above it belong to root or to us, without write permission for
 * others? A folder with the sticky bit is safe, as our files stay ours there. False: the reason in
 * `why`.
 */
bool plugin_file_is_safe(const char *path, char *why, size_t why_len);
