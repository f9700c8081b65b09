// SPDX-License-Identifier: BSD-2-Clause
/* Which module a source file belongs to. */
#include "util/log.h"

#include <string.h>

const char *log_module_of(const char *file)
{
	static const char root[] = "opensm/";
	const char *end = strrchr(file, '/'), *below = NULL;

	for (const char *at = strstr(file, root); at; at = strstr(at + 1, root))
		if ((at == file || at[-1] == '/') && strchr(at + strlen(root), '/'))
			below = at + strlen(root);
	if (below || !end)
		return below ? below : file;
	while (end > file && end[-1] != '/')
		end--;
	return end;
}

bool log_module_has(const char *name, const char *file)
{
	const char *module = log_module_of(file);
	size_t len = strlen(name);

	if (len && name[len - 1] == '/')
		return strncmp(module, name, len) == 0;
	return strcmp(module, name) == 0;
}

unsigned log_modules_mask(const struct log_module *modules, size_t n, const char *file)
{
	unsigned mask = 0;

	for (size_t i = 0; i < n; i++)
		if (log_module_has(modules[i].name, file))
			mask |= modules[i].mask;
	return mask;
}
