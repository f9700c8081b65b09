// SPDX-License-Identifier: BSD-2-Clause
/*
 * The program: options in, log open, perhaps into the background, then the daemon.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/cli.h"
#include "conf/lists/modules.h"
#include "daemon/daemon.h"
#include "daemon/host_check.h"
#include "daemon/notify.h"
#include "ib/codes.h"
#include "libvendor/umad.h"
#include "offline/offline.h"
#include "util/file.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/str.h"

#define EXIT_NO_LOG 42
#define SANDBOX_HINT                                                                               \
	" (opensm.service lets opensm write below /var/log and /var/cache/opensm; for more: "      \
	"systemctl edit opensm@, ReadWritePaths=)"

static const char *env_or(const char *name, const char *otherwise)
{
	const char *value = secure_getenv(name);

	return value && value[0] ? value : otherwise;
}

/*
 * Threads of OpenMP that wait for each other would spin, for as long as another program on this
 * host could compute. Their library reads its environment when it is loaded, before any of our
 * functions runs but this one.
 */
static void wait_asleep(int argc, char **argv, char **env)
{
	setenv("OMP_WAIT_POLICY", "passive", false);
}

__attribute__((section(".preinit_array"),
	       used)) static void (*const before_libraries)(int argc, char **argv,
							    char **env) = wait_asleep;

/* ---- -g 0: the user chooses a port --------------------------------------------------------- */

/* A number from 0 to `most`; -1 when input has ended. */
static int ask_choice(int most)
{
	char word[32];

	for (;;) {
		char *end;
		long n;

		printf("Enter choice (0-%d): ", most);
		fflush(stdout);
		if (scanf("%31s", word) != 1)
			return -1;
		n = strtol(word, &end, 10);
		if (!*end && end != word && n >= 0 && n <= most)
			return n;
		printf("'%s' is not a number from 0 to %d\n", word, most);
	}
}

/* The port GUID chosen, 0: leave. */
static uint64_t choose_port(void)
{
	_cleanup_free_ struct umad_port_choice *ports = NULL;
	int n = umad_list_ports(&ports), choice;

	n = n > 0 ? (int)umad_keep_sm_ports(ports, (size_t)n) : 0;
	if (n <= 0) {
		printf("No local ports detected!\n");
		return 0;
	}
	if (n == 1)
		return ports[0].guid;
	printf("Local InfiniBand ports:\n");
	for (int i = 0; i < n; i++)
		printf("\t%d: GUID 0x%" PRIx64 ", lid %u, state %s\n", i + 1, ports[i].guid,
		       ports[i].lid, ib_port_state_name(ports[i].state));
	printf("\n\t0: Exit\n");
	choice = ask_choice(n);
	if (choice <= 0)
		return 0;
	printf("Choice guid=0x%" PRIx64 "\n", ports[choice - 1].guid);
	return ports[choice - 1].guid;
}

/* ---- into the background ------------------------------------------------------------------- */

static int write_pid(const char *path)
{
	struct file_replace *f = file_replace_open(path, false);

	if (!f)
		return -errno;
	fprintf(file_replace_stream(f), "%d\n", (int)getpid());
	return file_replace_commit(f, false);
}

/* Forks twice (cli.md 8): parents end with 0. Descriptors 0 to 2 go nowhere. */
static void go_to_background(void)
{
	int null;

	fflush(NULL);
	for (unsigned i = 0; i < 2; i++) {
		pid_t pid = fork();

		if (pid < 0) {
			fprintf(stderr, "opensm: cannot go to the background: %s\n",
				strerror(errno));
			exit(1);
		}
		if (pid > 0)
			_exit(0);
		if (i == 0)
			setsid();
	}
	null = open("/dev/null", O_RDWR);
	for (int fd = 0; fd <= 2 && null >= 0; fd++)
		dup2(null, fd);
	if (null > 2)
		close(null);
}

/* A launcher that gave us room for a title keeps us in the foreground and watches us. */
static bool is_launched(void)
{
	return str_equal(secure_getenv("OPENSM_STATUS_ARG"), "1");
}

static int open_log(const struct conf *c, const char *instance)
{
	struct log_config log = daemon_log_config(c);
	_cleanup_free_ char *what = NULL;
	int r;

	log.instance = instance;
	r = log_open(&log);

	if (r >= 0)
		return r;
	what = xasprintf("Cannot open file '%s': %s%s", c->log_file ? c->log_file : "stdout",
			 strerror(-r), r == -EROFS && is_launched() ? SANDBOX_HINT : "");
	fprintf(stderr, "%s\n", what);
	notify_fault(what);
	return r;
}

/* From the first record on; faults of the file are logged by the first sweep, which reads all. */
static void set_log_modules(const struct conf *c)
{
	struct conf_report untold = { 0 };
	struct conf_modules modules;

	if (!c->per_module_logging_file)
		return;
	conf_modules_read(c->per_module_logging_file, &modules, &untold);
	log_set_modules(modules.items, modules.n);
	conf_modules_clear(&modules);
	conf_report_clear(&untold);
}

/* "FILE:LINE:COLUMN: " and the first `n` bytes of the text; what is not known is left out. */
static char *finding_str(const struct conf_finding *f, size_t n)
{
	if (f->file && f->line)
		return xasprintf("%s:%u:%u: %.*s", f->file, f->line, f->column, (int)n, f->text);
	return xasprintf("%s%s%.*s", f->file ? f->file : "", f->file ? ": " : "", (int)n, f->text);
}

/* Findings of the options go to the log too: stdout may go nowhere. */
static void log_findings(const struct conf_report *report)
{
	for (size_t i = 0; i < report->n; i++) {
		const struct conf_finding *f = &report->findings[i];
		const struct log_about about = { .id = LOG_ID_CONF_FINDING, .file = f->file };
		_cleanup_free_ char *text = finding_str(f, strlen(f->text));

		log_write_on(&about, f->severity == CONF_ERROR ? LOGB_ERROR : LOGB_INFO, NULL, "%s",
			     text);
	}
}

/* ---- under a launcher ---------------------------------------------------------------------- */

/*
 * How much of a finding is still true where nothing is started: "what was found; what was expected;
 * what happens now" without the last.
 */
static size_t what_was_found(const char *text)
{
	const char *last = NULL, *next = text;

	while ((next = strstr(next, "; ")))
		last = next++;
	if (!last || str_starts(last, "; expected") || str_starts(last, "; did you"))
		return strlen(text);
	return (size_t)(last - text);
}

/* The first error that kept us from starting, for the one line of the launcher. */
static void tell_fault(const struct cli *cli)
{
	for (size_t i = 0; i < cli->report.n; i++) {
		const struct conf_finding *f = &cli->report.findings[i];
		_cleanup_free_ char *what = finding_str(f, what_was_found(f->text));

		if (f->severity != CONF_ERROR)
			continue;
		notify_fault(what);
		return;
	}
}

static const char *cache_dir(void)
{
	return env_or("OSM_CACHE_DIR", OPENSM_STATE_DIR "/cache/opensm");
}

static void look_around(const struct conf *conf, struct conf_report *r)
{
	check_surroundings(conf, cache_dir(), r);
}

/* exit_on_fatal; the words are those of OpenSM, for scripts. */
static bool has_fatal_state(const struct conf *conf)
{
	_cleanup_free_ char *why =
		conf->exit_on_fatal ? check_state_files(conf, cache_dir()) : NULL;

	if (!why)
		return false;
	log_sys("FATAL: %s; expected a file that can be read, or none; nothing is started "
		"(exit_on_fatal)",
		why);
	notify_fault(why);
	return true;
}

static int run(const struct cli *cli, struct title title)
{
	const bool background = cli->conf->daemon && !is_launched();
	const struct daemon_options options = {
		.conf = cli->conf,
		.file_conf = cli->file,
		.conf_path = cli->config_path,
		.cache_dir = cache_dir(),
		.run_dir = env_or("OPENSM_RUN_DIR", "/run/opensm"),
		.instance = env_or("OPENSM_INSTANCE", "opensm"),
		.findings = &cli->report,
		.once = cli->once,
		.release = cli->release,
		.title = title,
	};
	int r;

	if (background)
		go_to_background();
	if (background && cli->pidfile && write_pid(cli->pidfile) < 0)
		return 1;
	if (open_log(cli->conf, options.instance) < 0)
		return EXIT_NO_LOG;
	set_log_modules(cli->conf);
	log_sys("OpenSM %s", PACKAGE_VERSION);
	log_findings(&cli->report);
	r = has_fatal_state(cli->conf) ? CLI_EXIT_CONFIG : daemon_run(&options);
	log_close();
	if (background && cli->pidfile)
		unlink(cli->pidfile);
	return r;
}

int main(int argc, char **argv)
{
	const struct cli_env env = {
		.version = PACKAGE_VERSION,
		.tmp_dir = secure_getenv("OSM_TMP_DIR"),
		.out = stdout,
		.err = stderr,
		.out_is_log = getenv("JOURNAL_STREAM") || is_launched(),
		.look_around = look_around,
		.print_json = findings_print_json,
	};
	struct title title = is_launched() ? title_find(argc, argv) : (struct title){ 0 };
	struct cli cli;
	int r = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (offline_wanted(argc, argv))
		return offline_main(argc, argv);
	cli_parse(argc, argv, &env, &cli);
	cli_hide_keys(argc, argv);
	switch (cli.action) {
	case CLI_EXIT:
		r = cli.exit_code;
		if (r)
			tell_fault(&cli);
		break;
	case CLI_MENU:
		if (is_launched()) {
			notify_fault(
				"guid is 0xffffffffffffffff, which means to ask at a terminal; "
				"expected a port GUID, or 0 for the first port with a link");
			r = CLI_EXIT_CONFIG;
			break;
		}
		cli.conf->guid = choose_port();
		if (cli.conf->guid)
			r = run(&cli, title);
		break;
	case CLI_RUN:
		r = run(&cli, title);
		break;
	}
	cli_clear(&cli);
	return r;
}
