// SPDX-License-Identifier: BSD-2-Clause
/* opensm-rest: options, start, signals, the end. */
#include <errno.h>
#include <getopt.h>
#include <gnutls/gnutls.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include "rest/backend.h"
#include "rest/setup/conf.h"
#include "rest/http/http.h"
#include "rest/living/living.h"
#include "rest/openapi.h"
#include "rest/setup/add_user.h"
#include "rest/setup/certificate.h"
#include "rest/setup/missing.h"
#include "util/log.h"
#include "util/mem.h"

#ifndef OPENSM_CONF_DIR
#define OPENSM_CONF_DIR "/etc/rdma"
#endif

/* sysexits(3): a fault of the configuration is the same next time. */
#define EXIT_USAGE 64
#define EXIT_CONF  78
/* Requests that run have this long when the program ends. */
#define END_PATIENCE (10 * MONO_S)
#define END_LOOK     (50 * MONO_MS)

struct program {
	const char *conf_path;
	struct rest_conf *conf;
	struct login *login;
	struct tls_files *tls;
	struct rest_backend backend;
	struct rest_policy policy;
	char *openapi; /* the document that policy points to */
	struct living *living;
	struct http *http;
	sd_event *event;
	sd_event_source *ending;
	uint64_t end_by;
};

/* ---- start --------------------------------------------------------------------------------- */

static bool needs_tls(const struct rest_conf *c)
{
	for (unsigned i = 0; i < c->n_listen; i++)
		if (c->listen[i].tls)
			return true;
	return false;
}

/* Reads all files; --check does so, too. `say` names missing files, `fault` any other fault. */
static int read_files(struct program *p, void (*say)(const char *), struct fault *fault)
{
	fault->text[0] = '\0';
	if (missing_files(p->conf_path, NULL, say))
		return -ENOENT;
	p->conf = rest_conf_load(p->conf_path, fault);
	if (!p->conf)
		return -EINVAL;
	if (missing_files(p->conf_path, p->conf, say))
		return -ENOENT;
	p->login = login_new(p->conf->users, p->conf->state_dir, fault);
	if (!p->login)
		return -EINVAL;
	if (!needs_tls(p->conf))
		return 0;
	p->tls = tls_files_load(p->conf->certificate, p->conf->key, p->conf->client_ca, fault);
	return p->tls ? 0 : -EINVAL;
}

static int start_http(struct program *p, struct fault *fault)
{
	struct http_source source = {
		.endpoints = rest_endpoints,
		.backend = &p->backend,
		.policy = &p->policy,
		.login = p->login,
		.tls = p->tls,
		.max_connections = p->conf->max_connections,
		.max_per_address = p->conf->max_connections_per_address,
	};

	backend_open(&p->backend, p->conf->control_socket);
	p->openapi = openapi_text();
	p->policy = (struct rest_policy){ .release = p->conf->release,
					  .site = p->conf->site,
					  .known_only = p->conf->known_only,
					  .openapi = p->openapi };
	p->living = living_new(p->event, &p->backend, &source);
	p->http = p->living ? http_new(p->event, &source, fault) : NULL;
	if (!p->http)
		return -EIO;
	living_start(p->living, p->http);
	for (unsigned i = 0; i < p->conf->n_listen; i++)
		if (http_listen(p->http, &p->conf->listen[i], fault) < 0)
			return -EIO;
	return 0;
}

/* ---- signals ------------------------------------------------------------------------------- */

static int on_hangup(sd_event_source *s, const struct signalfd_siginfo *si, void *arg)
{
	struct program *p = arg;
	struct fault fault;

	if (login_reload(p->login, p->conf->users, &fault) < 0)
		log_error("the file of users was not read again, the former users stay: %s",
			  fault.text);
	else
		log_info("%s was read again: %zu users", p->conf->users,
			 login_count_users(p->login));
	return 0;
}

static int on_ending(sd_event_source *s, uint64_t usec, void *arg)
{
	struct program *p = arg;

	if (!http_busy(p->http) || usec >= p->end_by)
		return sd_event_exit(p->event, 0);
	sd_event_source_set_time(s, usec + END_LOOK);
	return sd_event_source_set_enabled(s, SD_EVENT_ONESHOT);
}

static int on_terminate(sd_event_source *s, const struct signalfd_siginfo *si, void *arg)
{
	struct program *p = arg;

	if (p->ending)
		return 0;
	sd_notify(false, "STOPPING=1");
	http_quiesce(p->http);
	sd_event_now(p->event, CLOCK_MONOTONIC, &p->end_by);
	p->end_by += END_PATIENCE;
	return sd_event_add_time_relative(p->event, &p->ending, CLOCK_MONOTONIC, END_LOOK, 0,
					  on_ending, p);
}

static void block_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
}

static int watch_signals(struct program *p)
{
	int r = sd_event_add_signal(p->event, NULL, SIGHUP, on_hangup, p);

	if (r >= 0)
		r = sd_event_add_signal(p->event, NULL, SIGTERM, on_terminate, p);
	if (r >= 0)
		r = sd_event_add_signal(p->event, NULL, SIGINT, on_terminate, p);
	if (r >= 0)
		r = sd_event_set_watchdog(p->event, true);
	return r;
}

/* ---- running ------------------------------------------------------------------------------- */

static void raise_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	limit.rlim_cur = MIN(limit.rlim_max, (rlim_t)65536);
	setrlimit(RLIMIT_NOFILE, &limit);
}

static void say_in_log(const char *text)
{
	if (text[0])
		log_error("%s", text);
}

static void say_on_stderr(const char *text)
{
	if (text[0])
		fprintf(stderr, "%s\n", text);
}

static int run(struct program *p)
{
	struct fault fault = { "the event loop cannot be started" };
	int r;

	block_signals();
	raise_descriptors();
	if (sd_event_default(&p->event) < 0 || read_files(p, say_in_log, &fault) < 0) {
		say_in_log(fault.text);
		return EXIT_CONF;
	}
	login_drop_strangers(p->login);
	if (watch_signals(p) < 0 || start_http(p, &fault) < 0) {
		log_error("%s", fault.text);
		return EXIT_FAILURE;
	}
	log_info("opensm-rest serves; addresses: %u, users: %zu", p->conf->n_listen,
		 login_count_users(p->login));
	sd_notify(false, "READY=1");
	r = sd_event_loop(p->event);
	/* A thread may still wait for the manager: nothing here needs an orderly end. */
	if (http_busy(p->http))
		_exit(r < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int check(struct program *p)
{
	struct fault fault;

	if (read_files(p, say_on_stderr, &fault) < 0) {
		say_on_stderr(fault.text);
		return EXIT_CONF;
	}
	printf("%s: no fault; addresses: %u, users: %zu\n", p->conf_path, p->conf->n_listen,
	       login_count_users(p->login));
	return EXIT_SUCCESS;
}

static int make_pair(struct program *p)
{
	struct fault fault = { "" };

	if (missing_files(p->conf_path, NULL, say_on_stderr))
		return EXIT_CONF;
	p->conf = rest_conf_load(p->conf_path, &fault);
	if (!p->conf || !make_certificate(p->conf, &fault)) {
		say_on_stderr(fault.text);
		return EXIT_CONF;
	}
	printf("%s and %s are made, for 825 days; clients trust it by: curl --cacert %s\n",
	       p->conf->certificate, p->conf->key, p->conf->certificate);
	return EXIT_SUCCESS;
}

static void program_done(struct program *p)
{
	sd_event_source_unref(p->ending);
	if (p->living)
		living_start(p->living, NULL);
	p->http = http_free(p->http);
	living_free(p->living);
	login_free(p->login);
	tls_files_free(p->tls);
	rest_conf_free(p->conf);
	free(p->openapi);
	sd_event_unref(p->event);
	log_close();
}

/* ---- options ------------------------------------------------------------------------------- */

enum {
	OPT_CHECK = 256,
	OPT_ADD_USER,
	OPT_RIGHT,
	OPT_CERT_SAN,
	OPT_NO_PASSWORD,
	OPT_MAKE_CERTIFICATE,
	OPT_OPENAPI,
	OPT_VERSION,
};
static const struct option options[] = {
	{ "config", required_argument, NULL, 'c' },
	{ "check", no_argument, NULL, OPT_CHECK },
	{ "add-user", required_argument, NULL, OPT_ADD_USER },
	{ "right", required_argument, NULL, OPT_RIGHT },
	{ "cert-san", required_argument, NULL, OPT_CERT_SAN },
	{ "no-password", no_argument, NULL, OPT_NO_PASSWORD },
	{ "make-certificate", no_argument, NULL, OPT_MAKE_CERTIFICATE },
	{ "openapi", no_argument, NULL, OPT_OPENAPI },
	{ "debug", no_argument, NULL, 'd' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ 0 },
};

static const char help[] =
	"opensm-rest: partitions of an InfiniBand subnet over HTTPS, opensm-rest(8)\n\n"
	"  -c, --config FILE     the configuration (" OPENSM_CONF_DIR "/opensm-rest.conf)\n"
	"      --check           reads all files, names the first fault, and ends\n"
	"      --add-user NAME   puts a user into the file of users; reads the password from\n"
	"                        the terminal or the first line of stdin\n"
	"      --right RIGHT     its right: read (the default), tenant or admin\n"
	"      --cert-san NAME   a name in its client certificate; may be repeated\n"
	"      --no-password     it has no password, only certificates\n"
	"      --make-certificate  makes certificate and key, signed by itself, where the\n"
	"                        configuration looks for them and there are none\n"
	"      --openapi         prints the interface as a document of OpenAPI, and ends\n"
	"  -d, --debug           every request is logged\n"
	"  -h, --help            this text\n"
	"      --version         the version\n";

struct choice {
	bool check, make_certificate, debug;
	struct add_user add;
};

static int usage(const char *what)
{
	fprintf(stderr, "opensm-rest: %s\n", what);
	return EXIT_USAGE;
}

static int set_option(struct program *p, struct choice *choice, int option)
{
	switch (option) {
	case 'c':
		p->conf_path = optarg;
		return 0;
	case 'd':
		choice->debug = true;
		return 0;
	case OPT_CHECK:
		choice->check = true;
		return 0;
	case OPT_MAKE_CERTIFICATE:
		choice->make_certificate = true;
		return 0;
	case OPT_ADD_USER:
		choice->add.name = optarg;
		return 0;
	case OPT_RIGHT:
		choice->add.right = optarg;
		return 0;
	case OPT_NO_PASSWORD:
		choice->add.no_password = true;
		return 0;
	case OPT_CERT_SAN:
		if (choice->add.n_sans == USER_SANS_MAX)
			return usage("at most eight --cert-san");
		choice->add.sans[choice->add.n_sans++] = optarg;
		return 0;
	}
	return EXIT_USAGE;
}

/* Options that print something and end the program. */
static bool print_option(int option)
{
	_cleanup_free_ char *openapi = NULL;

	switch (option) {
	case 'h':
		fputs(help, stdout);
		return true;
	case OPT_OPENAPI:
		openapi = openapi_text();
		fputs(openapi, stdout);
		return true;
	case OPT_VERSION:
		puts("opensm-rest " PACKAGE_VERSION);
		return true;
	}
	return false;
}

/* 0: go on; -1: the end, all is well; else an exit status. */
static int read_options(int argc, char **argv, struct program *p, struct choice *choice)
{
	int option, r = 0;

	while (!r && (option = getopt_long(argc, argv, "c:dh", options, NULL)) >= 0)
		r = print_option(option) ? -1 : set_option(p, choice, option);
	return r || optind == argc ? r : usage("no argument is expected");
}

int main(int argc, char **argv)
{
	struct program p = { .conf_path = OPENSM_CONF_DIR "/opensm-rest.conf" };
	struct choice choice = { .add.right = "read" };
	int status = read_options(argc, argv, &p, &choice);

	if (status)
		return status < 0 ? EXIT_SUCCESS : status;
	log_open(&(struct log_config){ .path = "stderr",
				       .flags = LOGB_ERROR | LOGB_INFO |
						(choice.debug ? LOGB_DEBUG : 0) });
	if (choice.add.name)
		status = add_user(&choice.add, p.conf_path);
	else if (choice.make_certificate)
		status = make_pair(&p);
	else
		status = choice.check ? check(&p) : run(&p);
	program_done(&p);
	return status;
}
