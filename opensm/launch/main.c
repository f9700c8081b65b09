// SPDX-License-Identifier: BSD-2-Clause
/*
 * opensm-launch: the main process of opensm.service; with --run, what opensm@NAME.service starts;
 * with --show, for people.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "launch/clash.h"
#include "launch/gather.h"
#include "launch/launcher.h"
#include "launch/ports.h"
#include "launch/journal.h"
#include "util/mem.h"
#include "util/str.h"

/*
 * Signals wait for the event loop, and HUP and USR1 for the daemon's: none is the end of a process
 * in its first moment.
 */
static void block_signals(bool all)
{
	static const int signals[] = { SIGHUP, SIGUSR1, SIGTERM, SIGINT, SIGURG };
	sigset_t set;

	sigemptyset(&set);
	for (size_t n = 0; n < (all ? ARRAY_SIZE(signals) : 2); n++)
		sigaddset(&set, signals[n]);
	sigprocmask(SIG_SETMASK, &set, NULL);
}

/* ---- --show -------------------------------------------------------------------------------- */

static void show_instance(const struct launch_paths *p, const struct instance *i)
{
	char **argv = instance_argv(i, p);

	printf("%s:", i->name);
	if (i->fault)
		printf(" cannot start: %s", i->fault);
	for (char **word = argv; !i->fault && word[0] && word[1]; word++)
		printf(" %s", *word);
	printf("\n    log %s\n    cache %s\n    dumps %s\n", i->log, i->cache_dir, i->dump_dir);
	strv_free(argv);
}

static void show_all(const struct launch_paths *p, const struct choice *choice,
		     struct conf_report *r)
{
	for (size_t k = 0; k < choice->n; k++)
		instance_place(choice->items[k], p);
	clash_find(choice->items, choice->n, r);
	conf_report_print(r, stderr);
	printf("%zu instance%s (%s)\n", choice->n, choice->n == 1 ? "" : "s", choice->rule);
	for (size_t k = 0; k < choice->n; k++)
		show_instance(p, choice->items[k]);
}

/* Which instances there would be; 78 where the files do not say. */
static int show_instances(const struct launch_paths *p)
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

/* ---- --run --------------------------------------------------------------------------------- */

/* Why this instance cannot be started, for systemd and the journal. */
static int refuse_run(const char *name, const char *why, int status)
{
	journal_about(LOG_ID_NONE, name, LOG_ERR, "cannot start: %s", why);
	sd_notifyf(0, "STATUS=%s\nERRNO=%d", why, EINVAL);
	return status;
}

/* The ports of the host; with PORTS=ALL also vanished ones, whose instances wait for them. */
static uint64_t *ports_with(const struct launch_paths *p, size_t *ret_n)
{
	uint64_t guid, *ports = ports_list(p->sys_dir, ret_n);
	size_t n = *ret_n;

	if (!str_starts(p->run, "0x") || str_to_u64(p->run, 16, UINT64_MAX, &guid) < 0)
		return ports;
	if (ports_have(ports, n, guid))
		return ports;
	ports = xrealloc(ports, n + 1, sizeof(*ports));
	ports[n] = guid;
	*ret_n = n + 1;
	return ports;
}

/* Becomes the daemon. Returns the exit status where that cannot be. */
static int become(const struct launch_paths *p, struct instance *i)
{
	_cleanup_free_ char *what = NULL;
	char **argv;

	if (i->fault)
		return refuse_run(p->run, i->fault, LAUNCH_EXIT_CONFIG);
	instance_place(i, p);
	if (instance_folders(i, p, &what) < 0)
		return refuse_run(p->run, what, 1);
	argv = instance_argv(i, p);
	instance_setenv(i, p);
	block_signals(false);
	execv(p->program, argv);
	what = xasprintf("cannot run %s: %s", p->program, strerror(errno));
	strv_free(argv);
	return refuse_run(p->run, what, 127);
}

static int run_instance(const struct launch_paths *p)
{
	struct conf_report r = { 0 };
	struct choice choice;
	size_t n;
	_cleanup_free_ uint64_t *ports = ports_with(p, &n);
	_cleanup_free_ char *what = NULL;
	struct instance *i = NULL;
	int fault = gather(p, ports, n, &choice, &r), status;

	if (fault < 0)
		what = gather_first_error(&r);
	else
		i = choice_find(&choice, p->run);
	conf_report_clear(&r);
	if (!i && !what)
		what = xasprintf("the settings ask for no such instance (%s); systemctl reload "
				 "opensm stops it",
				 choice.rule);
	status = i ? become(p, i) : refuse_run(p->run, what, LAUNCH_EXIT_CONFIG);
	choose_clear(&choice);
	return status;
}

/* ---- the program --------------------------------------------------------------------------- */

static bool is_service(void)
{
	const char *socket = getenv("NOTIFY_SOCKET");

	return socket && socket[0];
}

int main(int argc, char **argv)
{
	struct launch_paths paths;
	int r;

	block_signals(true);
	setvbuf(stderr, NULL, _IOLBF, 0);
	r = launch_paths_read(argc, argv, stdout, stderr, &paths);
	if (r >= 0)
		return r;
	if (paths.show)
		return show_instances(&paths);
	if (paths.run)
		return run_instance(&paths);
	if (is_service())
		return launcher_run(&paths);
	fputs("opensm-launch: is the main process of opensm.service; expected `systemctl start "
	      "opensm`, or without systemd an opensm for each instance, as --show lists them\n",
	      stderr);
	return 2;
}
