// SPDX-License-Identifier: BSD-2-Clause
/*
 * opensm-launch: what `systemctl start opensm` runs. Reads its places, gets itself a title, and runs the loop.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/clash.h"
#include "launch/gather.h"
#include "launch/launcher.h"
#include "launch/ports.h"
#include "util/mem.h"

#define TITLE_ENV "OPENSM_LAUNCH_TITLE"
#define OWN_TITLE_WIDTH 600

/*
 * Runs the program once more with a last argument to write the status into; the process stays the same.
 * Returns where that cannot be done: then there is no title, and nothing else is missing.
 */
static void get_title(int argc, char **argv)
{
	char **with = xcalloc((size_t)argc + 2, sizeof(*with));
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n > 0 && setenv(TITLE_ENV, "1", 1) == 0) {
		self[n] = '\0';
		memcpy(with, argv, (size_t)argc * sizeof(*with));
		with[argc] = title_new(OWN_TITLE_WIDTH, "starting");
		execv(self, with);
		free(with[argc]);
	}
	free(with);
}

static void show_instance(const struct launch_paths *p, const struct instance *i)
{
	char **argv = instance_argv(i, p);

	printf("%s:", i->plan.name);
	if (i->plan.fault)
		printf(" cannot start: %s", i->plan.fault);
	for (char **word = argv; !i->plan.fault && word[0] && word[1]; word++)
		printf(" %s", *word);
	printf("\n    log %s\n    cache %s\n    dumps %s\n", i->log, i->cache_dir, i->dump_dir);
	strv_free(argv);
}

static void show_all(const struct launch_paths *p, const struct choice *choice, struct conf_report *r)
{
	struct instance **items = xcalloc(choice->n + 1, sizeof(*items));

	for (size_t k = 0; k < choice->n; k++) {
		items[k] = instance_new(NULL, &choice->plans[k]);
		items[k]->strict = choice->strict;
		instance_place(items[k], p);
	}
	clash_find(items, choice->n, r);
	conf_report_print(r, stderr);
	printf("%zu instance%s (%s)\n", choice->n, choice->n == 1 ? "" : "s", choice->rule_text);
	for (size_t k = 0; k < choice->n; k++) {
		show_instance(p, items[k]);
		instance_free(items[k]);
	}
	free(items);
}

/* Which instances there would be; 78 where the files do not say. */
static int show(const struct launch_paths *p)
{
	struct conf_report r = { 0 };
	struct choice choice;
	size_t n;
	_cleanup_free_ uint64_t *ports = ports_list(p->sys_dir, &n);
	int fault = gather(p, ports, n, &choice, &r);

	if (fault < 0)
		conf_report_print(&r, stderr);
	else
		show_all(p, &choice, &r);
	conf_report_clear(&r);
	choose_clear(&choice);
	return fault < 0 ? LAUNCH_EXIT_CONFIG : 0;
}

int main(int argc, char **argv)
{
	struct launch_paths paths;
	int r;

	setvbuf(stderr, NULL, _IOLBF, 0);
	r = launch_paths_read(argc, argv, stdout, stderr, &paths);
	if (r >= 0)
		return r;
	if (paths.show)
		return show(&paths);
	if (!getenv(TITLE_ENV))
		get_title(argc, argv);
	unsetenv(TITLE_ENV);
	return launcher_run(&paths, title_find(argc, argv));
}
