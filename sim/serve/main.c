// SPDX-License-Identifier: BSD-2-Clause
/*
 * ibfab: a simulated fabric for programs that know nothing of it.
 *
 *   start, serve    the fabric, in the background or here, until "quit", a signal, or kill -9
 *   run             a program on one of its nodes
 *   ctl, stats ...  a look at it, and what goes wrong in it
 *
 * A fabric lives in a folder: `pid` of the server, its `log` (in the background), and `fs`, where
 * that has the file system mounted, in a mount namespace of its own. Not here: what is served.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sim/gen/gen.h"
#include "sim/serve/enter.h"
#include "sim/serve/fs.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/str.h"

#define LEAD (200 * MONO_US) /* an event that is due so soon is processed now */
#define DEFAULT_FOLDER "/run/ibfab"
#define STOP_WAIT_MS 10000
#define SPARE_MOST 16

struct options {
	const char *folder;
	const char *net;    /* file; NULL: words */
	unsigned speed, lanes;
	uint64_t seed, wear;
	const char *spare[SPARE_MOST + 1]; /* nodes spared by wear; ends with NULL */
	unsigned n_spare;
	bool background;
};

static int usage(FILE *out)
{
	char kinds[512];

	gen_words(0, NULL, kinds, sizeof(kinds));
	fprintf(out,
		"usage: ibfab [-d FOLDER] COMMAND\n"
		"  start [OPTIONS] KIND NUMBER...   serves a fabric in the background\n"
		"  start [OPTIONS] -f NETFILE       the same, from what ibnetdiscover prints and "
		"ibsim reads\n"
		"  serve ...                        the same, in the foreground\n"
		"  run NODE [--] COMMAND...         runs a program on a node: id, description or "
		"GUID\n"
		"  lay NODE FOLDER [PID]            makes the root FOLDER, as process PID sees it, "
		"a node\n"
		"  ctl COMMAND...                   does one of the commands below\n"
		"  nodes | stats                    what there is; what it has seen\n"
		"  state                            a number for all that each node holds: another "
		"one, and something has changed\n"
		"  check                            whether all is ACTIVE, addressed, reachable; "
		"exit status 3: not\n"
		"  keys                             what `ctl watch-keys` has found, and the M_Key "
		"of every port; as check\n"
		"  pkeys                            the P_Keys of every port\n"
		"  stop                             ends the fabric\n"
		"  --version                        prints the version of opensm that this is a "
		"part of\n"
		"options: -s SPEED (SDR ... XDR), -w LANES (1, 2, 4, 8, 12), -S SEED, --wear SEED "
		"(oddities of fabrics in use; 0: none), --spare NODE (as it is, of these)\n"
		"folder: -d, or $IBFAB_DIR, or " DEFAULT_FOLDER
		"; several fabrics have several folders\n"
		"%s\ncommands of ctl:\n",
		kinds);
	control_help(out);
	return out == stdout ? 0 : 2;
}

static int complain(const char *what)
{
	fprintf(stderr, "ibfab: %s: %s\n", what, strerror(errno));
	return 1;
}

/* ---- serving ---- */

static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
	interrupted = 1;
}

static mono_t real_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * MONO_S + t.tv_nsec / 1000;
}

/* Sleeps until there is a request, an event of the fabric is due, or a signal arrives. */
static void wait_for_work(const struct control *c, const struct fs *fs, const sigset_t *unblocked)
{
	struct pollfd p = { .fd = fs_fd(fs), .events = POLLIN };
	mono_t next = sim_next(c->sim), us = MONO_S;
	struct timespec t;

	if (next != MONO_NEVER)
		us = mono_min(us, vclock_wait(&c->clock, c->real, next - LEAD));
	t = (struct timespec){ .tv_sec = us / MONO_S, .tv_nsec = us % MONO_S * 1000 };
	ppoll(&p, 1, &t, unblocked);
}

static int loop(struct control *c, struct fs *fs, const sigset_t *unblocked)
{
	int r = 0;

	while (!c->quit && !interrupted && r >= 0) {
		c->real = real_now();
		sim_advance(c->sim, vclock_at(&c->clock, c->real) + LEAD);
		r = fs_step(fs);
		if (r == 0)
			wait_for_work(c, fs, unblocked);
	}
	return r < 0 ? 1 : 0;
}

/*
 * Errors from now on are written to `log`: no terminal listens, and a pipe kept open would never
 * end.
 */
static int leave_stderr(const struct options *o)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/log", o->folder);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0 || dup2(fd, STDERR_FILENO) < 0)
		return complain(path);
	close(fd);
	return 0;
}

static int serve(struct sim *sim, const struct options *o, const char *folder, int ready)
{
	struct control c = {
		.sim = sim, .seats = seats_new(sim), .clock = { .scale = 1 }, .said = "ok"
	};
	struct sigaction act = { .sa_handler = on_signal };
	sigset_t blocked, before;
	struct fs *fs;
	int r = 1;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGINT);
	sigaddset(&blocked, SIGTERM);
	sigprocmask(SIG_BLOCK, &blocked, &before);
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	c.clock.real = c.real = real_now();
	/* A kernel and a wire do not wait for the processor; but if we must, we can. */
	sched_setscheduler(0, SCHED_RR, &(struct sched_param){ .sched_priority = 1 });
	fs = fs_new(&c, folder);
	if (!fs)
		complain(folder);
	else if ((!o->background || leave_stderr(o) == 0) && write(ready, "+", 1) == 1)
		r = loop(&c, fs, &before);
	fs_free(fs);
	key_files_free(c.key_files);
	seats_free(c.seats);
	return r;
}

static struct netfile *read_net(const char *path)
{
	_cleanup_free_ char *text = NULL;
	struct netfile *net;
	char err[256];
	size_t n;
	int r = file_read(path, NETFILE_MAX_BYTES, &text, &n);

	if (r < 0) {
		errno = -r;
		complain(path);
		return NULL;
	}
	net = netfile_parse(text, n, err, sizeof(err));
	if (!net)
		fprintf(stderr, "ibfab: %s:%s\n", path, err);
	return net;
}

static struct netfile *make_net(const struct options *o, int n, char **words)
{
	struct netfile *net;
	char err[512];

	if (o->net) {
		net = read_net(o->net);
	} else {
		net = gen_words((unsigned)n, (const char *const *)words, err, sizeof(err));
		if (!net)
			fprintf(stderr, "ibfab: %s\n", err);
	}
	if (net && (o->speed || o->lanes))
		gen_speed(net, o->speed, o->lanes);
	if (net)
		gen_wear(net, o->wear, o->spare);
	return net;
}

/* Makes the folder and its `pid`, which is locked as long as a server runs here. */
static int claim(const char *folder)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/fs", folder);
	if ((mkdir(folder, 0755) < 0 && errno != EEXIST) ||
	    (mkdir(path, 0755) < 0 && errno != EEXIST))
		return -1;
	snprintf(path, sizeof(path), "%s/pid", folder);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	close(fd);
	errno = EBUSY;
	return -1;
}

static int serve_here(const struct options *o, int n, char **words, int ready)
{
	struct netfile *net = make_net(o, n, words);
	struct sim *sim;
	char path[PATH_MAX];
	int pid, r;

	if (!net)
		return 1;
	pid = claim(o->folder);
	if (pid < 0) {
		netfile_free(net);
		return complain(o->folder);
	}
	if (ftruncate(pid, 0) < 0 || dprintf(pid, "%d\n", (int)getpid()) < 0)
		complain(o->folder);
	r = enter_private();
	if (r < 0) {
		errno = -r;
		netfile_free(net);
		return complain("a mount namespace of its own");
	}
	sim = sim_new(net, o->seed);
	netfile_free(net);
	sim_set_full_start(sim);
	sim_set_always_extended(sim);
	snprintf(path, sizeof(path), "%s/fs", o->folder);
	r = serve(sim, o, path, ready);
	sim_free(sim);
	return r;
}

/* The child serves; we go when it is ready, or with its failure. */
static int serve_behind(const struct options *o, int n, char **words)
{
	int ends[2];
	char c;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return complain("pipe");
	switch (fork()) {
	case -1:
		return complain("fork");
	case 0: {
		int null = open("/dev/null", O_RDWR | O_CLOEXEC);

		close(ends[0]);
		setsid();
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		exit(serve_here(o, n, words, ends[1]));
	}
	default:
		close(ends[1]);
		return read(ends[0], &c, 1) == 1 ? 0 : 1;
	}
}

static int parse_speed(const char *word, unsigned *ret)
{
	const struct ib_speed *s = ib_speed_named(word, strlen(word));

	if (!s)
		return -EINVAL;
	*ret = s->tenths;
	return 0;
}

static int command_serve(struct options *o, int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "wear", required_argument, NULL, 'W' },
		{ "spare", required_argument, NULL, 'k' },
		{ 0 },
	};
	uint64_t v = 0;
	int opt;

	optind = 1;
	while ((opt = getopt_long(argc, argv, "+f:s:w:S:W:k:", long_options, NULL)) != -1) {
		if (opt == 'f')
			o->net = optarg;
		else if (opt == 's' && parse_speed(optarg, &o->speed) == 0)
			;
		else if (opt == 'w' && str_to_u64(optarg, 10, 12, &v) == 0)
			o->lanes = (unsigned)v;
		else if (opt == 'S' && str_to_u64(optarg, 0, UINT64_MAX, &v) == 0)
			o->seed = v;
		else if (opt == 'W' && str_to_u64(optarg, 0, UINT64_MAX, &v) == 0)
			o->wear = v;
		else if (opt == 'k' && o->n_spare < SPARE_MOST)
			o->spare[o->n_spare++] = optarg;
		else
			return usage(stderr);
	}
	if (!o->net == (optind == argc))
		return usage(stderr);
	if (o->background)
		return serve_behind(o, argc - optind, argv + optind);
	return serve_here(o, argc - optind, argv + optind, STDOUT_FILENO);
}

/* ---- using ---- */

/* The process that serves the folder; -1: none. */
static int server_pid(const char *folder)
{
	char path[PATH_MAX], text[32] = "";
	uint64_t pid = 0;
	int fd;

	snprintf(path, sizeof(path), "%s/pid", folder);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0 && read(fd, text, sizeof(text) - 1) > 0) {
		text[strcspn(text, "\n")] = 0;
		str_to_u64(text, 10, INT_MAX, &pid);
	}
	if (fd >= 0)
		close(fd);
	if (pid)
		return (int)pid;
	fprintf(stderr, "ibfab: no fabric is served in %s\n", folder);
	return -1;
}

/* A file of the fabric, seen from outside of its namespace. */
static int open_served(const struct options *o, const char *name, int flags)
{
	int pid = server_pid(o->folder), fd;
	char path[PATH_MAX];

	if (pid < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/%d/root%s/fs/%s", pid, o->folder, name);
	fd = open(path, flags | O_CLOEXEC);
	if (fd < 0)
		complain(path);
	return fd;
}

/* `first`: the line that must come first, else the exit status is 3; NULL: any. */
static int command_show(const struct options *o, const char *name, const char *first, FILE *out)
{
	int fd = open_served(o, name, O_RDONLY), status = 0;
	FILE *in = fd < 0 ? NULL : fdopen(fd, "r");
	char line[512];

	if (!in)
		return 1;
	for (bool is_first = true; fgets(line, sizeof(line), in); is_first = false) {
		if (is_first && first && strcmp(line, first))
			status = 3;
		fputs(line, out);
	}
	fclose(in);
	return status;
}

static int write_ctl(const struct options *o, const char *line)
{
	int fd = open_served(o, "ctl", O_WRONLY);
	ssize_t n;

	if (fd < 0)
		return 1;
	n = write(fd, line, strlen(line));
	close(fd);
	if (n >= 0)
		return 0;
	fprintf(stderr, "ibfab: ");
	command_show(o, "ctl", NULL, stderr);
	return 1;
}

static int command_ctl(const struct options *o, int n, char **words)
{
	_cleanup_free_ char *line = NULL;
	size_t size;
	FILE *out = open_memstream(&line, &size);

	if (!out)
		return complain("memory");
	for (int i = 0; i < n; i++)
		fprintf(out, strchr(words[i], ' ') ? "\"%s\" " : "%s ", words[i]);
	fclose(out);
	return write_ctl(o, line);
}

static int command_stop(const struct options *o)
{
	int pid = server_pid(o->folder), fd;
	struct pollfd p = { .events = POLLIN };

	if (pid < 0)
		return 1;
	fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (write_ctl(o, "quit") != 0)
		return 1;
	p.fd = fd;
	return fd >= 0 && poll(&p, 1, STOP_WAIT_MS) == 1 ? 0 : 1;
}

/* Number of the node with this id, GUID or description; -1: none. */
static int find_node(const struct options *o, const char *name)
{
	int fd = open_served(o, "nodes", O_RDONLY), found = -1;
	FILE *in = fd < 0 ? NULL : fdopen(fd, "r");
	uint64_t guid = 0, have;
	char line[512];

	if (!in)
		return -1;
	str_to_u64(name, 16, UINT64_MAX, &guid);
	while (fgets(line, sizeof(line), in)) {
		char id[80], desc[80] = "";
		int index, ports;

		if (sscanf(line, "%d\t%79[^\t]\t%" SCNx64 "\t%d\t%79[^\n]", &index, id, &have,
			   &ports, desc) < 4)
			continue;
		if (!strcmp(id, name) ||
		    (found < 0 && (!strcmp(desc, name) || (guid && have == guid))))
			found = index;
	}
	fclose(in);
	if (found < 0)
		fprintf(stderr, "ibfab: no node '%s'\n", name);
	return found;
}

static int command_run(const struct options *o, int n, char **words)
{
	char path[PATH_MAX];
	int pid, node;

	if (n > 1 && !strcmp(words[1], "--")) {
		words[1] = words[0];
		words++;
		n--;
	}
	if (n < 2)
		return usage(stderr);
	pid = server_pid(o->folder);
	node = pid < 0 ? -1 : find_node(o, words[0]);
	if (node < 0)
		return 125;
	snprintf(path, sizeof(path), "%s/fs", o->folder);
	if (enter_node(pid, path, (unsigned)node) < 0)
		return 125;
	setenv("IBFAB_NODE", words[0], 1);
	execvp(words[1], words + 1);
	complain(words[1]);
	return errno == ENOENT ? 127 : 126;
}

static int command_lay(const struct options *o, int n, char **words)
{
	char path[PATH_MAX], root[PATH_MAX];
	uint64_t into = 0;
	int pid, node;

	if (n < 2 || n > 3 || (n > 2 && str_to_u64(words[2], 10, INT_MAX, &into) < 0))
		return usage(stderr);
	if (n > 2 && words[1][0] != '/') {
		fprintf(stderr,
			"ibfab: %s: expected a path from the root, as process %s has another\n",
			words[1], words[2]);
		return 2;
	}
	if (n > 2)
		snprintf(root, sizeof(root), "%s", words[1]);
	else if (!realpath(words[1], root))
		return complain(words[1]);
	pid = server_pid(o->folder);
	node = pid < 0 ? -1 : find_node(o, words[0]);
	if (node < 0)
		return 1;
	snprintf(path, sizeof(path), "%s/fs", o->folder);
	return lay_node(pid, path, (unsigned)node, (int)into, root) < 0 ? 1 : 0;
}

int main(int argc, char **argv)
{
	const char *env = getenv("IBFAB_DIR");
	struct options o = { .folder = env ? env : DEFAULT_FOLDER, .seed = 1 };
	char folder[PATH_MAX];
	const char *word;

	if (argc > 2 && !strcmp(argv[1], "-d")) {
		o.folder = argv[2];
		argc -= 2;
		argv += 2;
	}
	if (argc < 2)
		return usage(stderr);
	word = argv[1];
	if (!strcmp(word, "--help") || !strcmp(word, "-h"))
		return usage(stdout);
	if (!strcmp(word, "--version"))
		return printf("ibfab %s\n", PACKAGE_VERSION) < 0;
	if (!strcmp(word, "start") || !strcmp(word, "serve"))
		mkdir(o.folder, 0755);
	if (realpath(o.folder, folder))
		o.folder = folder;
	o.background = !strcmp(word, "start");
	if (!strcmp(word, "start") || !strcmp(word, "serve"))
		return command_serve(&o, argc - 1, argv + 1);
	if (!strcmp(word, "run"))
		return command_run(&o, argc - 2, argv + 2);
	if (!strcmp(word, "lay"))
		return command_lay(&o, argc - 2, argv + 2);
	if (!strcmp(word, "ctl"))
		return command_ctl(&o, argc - 2, argv + 2);
	if (!strcmp(word, "nodes") || !strcmp(word, "stats") || !strcmp(word, "state") ||
	    !strcmp(word, "pkeys"))
		return command_show(&o, word, NULL, stdout);
	if (!strcmp(word, "check") || !strcmp(word, "keys"))
		return command_show(&o, word, "good\n", stdout);
	return !strcmp(word, "stop") ? command_stop(&o) : usage(stderr);
}
