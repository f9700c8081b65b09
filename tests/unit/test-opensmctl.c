// SPDX-License-Identifier: BSD-2-Clause
/* opensmctl's own parts: words, tables, answers as they come in pieces, which sockets are daemons. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "opensmctl/client.h"
#include "opensmctl/ctl.h"
#include "tests/lib/scratch.h"
#include "util/mem.h"

/* ---- words ------------------------------------------------------------------------------------- */

static void words_may_be_abbreviated_while_nothing_else_begins_so(void **state)
{
	static const char *const words[] = { "sweep", "sweeping", "status", "reload", "reroute", NULL };

	assert_int_equal(ctl_match("sweep", words), 0);
	assert_int_equal(ctl_match("sweepi", words), 1);
	assert_int_equal(ctl_match("st", words), 2);
	assert_int_equal(ctl_match("rel", words), 3);
	assert_int_equal(ctl_match("s", words), -2);
	assert_int_equal(ctl_match("re", words), -2);
	assert_int_equal(ctl_match("x", words), -1);
	assert_int_equal(ctl_match("statuss", words), -1);
	assert_int_equal(ctl_match("", words), -1);
}

static void numbers_are_for_people(void **state)
{
	char text[64];

	assert_string_equal(ctl_duration(0, text), "0 s");
	assert_string_equal(ctl_duration(59, text), "59 s");
	assert_string_equal(ctl_duration(61, text), "1 min 1 s");
	assert_string_equal(ctl_duration(7380, text), "2 h 3 min");
	assert_string_equal(ctl_duration(90000, text), "1 d 1 h");
	assert_string_equal(ctl_plural(1, "host", text), "1 host");
	assert_string_equal(ctl_plural(0, "host", text), "0 hosts");
}

/* ---- tables ------------------------------------------------------------------------------------ */

/* What a table prints, to be freed. */
static char *printed(const struct ctl *c)
{
	static const char *const heads[] = { "NAME", "LID>", "STATE", NULL };
	struct table *t = table_new(c, heads);
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len), *real = stdout;

	table_cell(t, CTL_NAME, "h%d", 1);
	table_cell(t, CTL_PLAIN, "%d", 7);
	table_cell(t, CTL_GOOD, "%s", "ACTIVE");
	table_cell(t, CTL_NAME, "%s", "a-long-name-\xc3\xa9");
	table_cell(t, CTL_PLAIN, "%d", 12345);
	table_cell(t, CTL_PLAIN, "%s", "");
	stdout = out;
	table_print(t);
	stdout = real;
	fclose(out);
	return text;
}

static void tables_are_aligned(void **state)
{
	const struct ctl c = { 0 };
	_cleanup_free_ char *text = printed(&c);

	assert_string_equal(text, "NAME             LID  STATE\n"
				  "h1                 7  ACTIVE\n"
				  "a-long-name-\xc3\xa9  12345  -\n");
}

static void one_line_per_record_has_tabs(void **state)
{
	const struct ctl c = { .oneline = true };
	_cleanup_free_ char *text = printed(&c);

	assert_string_equal(text, "h1\t7\tACTIVE\na-long-name-\xc3\xa9\t12345\t-\n");
}

static void colours_change_no_width(void **state)
{
	const struct ctl c = { .color = true };
	_cleanup_free_ char *text = printed(&c);

	assert_non_null(strstr(text, "\033[1mh1\033[0m                 7  \033[32mACTIVE\033[0m\n"));
}

static void a_table_without_rows_is_its_heads(void **state)
{
	static const char *const heads[] = { "A", "B", NULL };
	const struct ctl c = { 0 };
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len), *real = stdout;
	struct table *t = table_new(&c, heads);

	stdout = out;
	table_print(t);
	stdout = real;
	fclose(out);
	assert_string_equal(text, "A  B\n");
	free(text);
}

/* ---- JSON ---------------------------------------------------------------------------------------- */

static void what_is_missing_or_of_another_type_counts_as_nothing(void **state)
{
	struct json_object *o = json_tokener_parse(
		"{\"s\": \"x\", \"n\": 7, \"d\": 1.5, \"b\": true, \"z\": null, \"a\": [1, 2]}");

	assert_string_equal(js_str(o, "s"), "x");
	assert_string_equal(js_str(o, "n"), "");
	assert_string_equal(js_str(o, "none"), "");
	assert_int_equal(js_int(o, "n"), 7);
	assert_int_equal(js_int(o, "s"), 0);
	assert_true(js_num(o, "d") > 1.4 && js_num(o, "n") > 6.9);
	assert_true(js_bool(o, "b"));
	assert_false(js_bool(o, "n"));
	assert_true(js_has(o, "s"));
	assert_false(js_has(o, "z"));
	assert_int_equal(js_len(js_get(o, "a")), 2);
	assert_int_equal(js_len(js_get(o, "s")), 0);
	assert_null(js_at(js_get(o, "a"), 2));
	assert_null(js_get(NULL, "s"));
	assert_null(js_get(js_get(o, "s"), "s"));
	json_object_put(o);
}

/* ---- the wire ------------------------------------------------------------------------------------ */

struct server {
	char dir[SCRATCH_PATH], path[80];
	int listener, peer;
	struct client *client;
};

static int listen_at(const char *path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
	assert_return_code(bind(fd, (struct sockaddr *)&at, sizeof(at)), errno);
	assert_return_code(listen(fd, 10), errno);
	return fd;
}

static int set_up(void **state)
{
	struct server *s = xcalloc(1, sizeof(*s));

	scratch_folder(s->dir);
	snprintf(s->path, sizeof(s->path), "%s/one.sock", s->dir);
	s->listener = listen_at(s->path);
	s->client = client_open(s->path);
	assert_non_null(s->client);
	s->peer = accept(s->listener, NULL, NULL);
	*state = s;
	return 0;
}

static int tear_down(void **state)
{
	struct server *s = *state;

	client_close(s->client);
	close(s->peer);
	close(s->listener);
	scratch_remove(s->dir);
	free(s);
	return 0;
}

static void a_call_is_one_object_and_a_nul(void **state)
{
	struct server *s = *state;
	struct json_object *parameters = json_tokener_parse("{\"kind\": \"heavy\"}");
	char text[200] = "";
	ssize_t n;

	assert_int_equal(client_send(s->client, "org.opensm.Sweep", parameters, true), 0);
	json_object_put(parameters);
	n = recv(s->peer, text, sizeof(text), 0);
	assert_int_equal(n, strlen(text) + 1);
	assert_string_equal(text, "{\"method\":\"org.opensm.Sweep\",\"parameters\":{\"kind\":\"heavy\"},"
				  "\"more\":true}");
}

static void answers_come_in_pieces_or_together(void **state)
{
	struct server *s = *state;
	struct json_object *o;

	assert_int_equal(write(s->peer, "{\"a\":", 5), 5);
	assert_int_equal(client_receive(s->client, 0, &o), -ETIMEDOUT);
	assert_int_equal(write(s->peer, "1}\0{\"a\":2}\0{", 12), 12);
	assert_int_equal(client_receive(s->client, 1000, &o), 0);
	assert_int_equal(js_int(o, "a"), 1);
	json_object_put(o);
	assert_int_equal(client_receive(s->client, 1000, &o), 0);
	assert_int_equal(js_int(o, "a"), 2);
	json_object_put(o);
	assert_int_equal(client_receive(s->client, 0, &o), -ETIMEDOUT);
	shutdown(s->peer, SHUT_RDWR);
	assert_int_equal(client_receive(s->client, 1000, &o), -EPIPE);
}

static void nonsense_is_no_answer(void **state)
{
	static const char *const texts[] = { "", "7", "[]", "{\"a\":", "{\"a\" 1}", "\xff" };
	struct server *s = *state;
	struct json_object *o;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		assert_int_equal(write(s->peer, texts[i], strlen(texts[i]) + 1),
				 strlen(texts[i]) + 1);
		assert_int_equal(client_receive(s->client, 1000, &o), -EBADMSG);
	}
}

static void nobody_there_is_told_by_errno(void **state)
{
	char path[200];

	errno = 0;
	assert_null(client_open("/nonexistent/x.sock"));
	assert_int_equal(errno, ENOENT);
	memset(path, 'x', sizeof(path));
	path[199] = '\0';
	assert_null(client_open(path));
	assert_int_equal(errno, ENAMETOOLONG);
}

/* ---- instances ----------------------------------------------------------------------------------- */

struct faker {
	int listener;
	const char *answer;
	pthread_t thread;
};

/* Answers everybody the same, until its listener is shut down. */
static void *fake(void *arg)
{
	const struct faker *f = arg;
	char text[200];
	int fd;

	while ((fd = accept(f->listener, NULL, NULL)) >= 0) {
		if (recv(fd, text, sizeof(text), 0) > 0)
			(void)!send(fd, f->answer, strlen(f->answer) + 1, MSG_NOSIGNAL);
		close(fd);
	}
	return NULL;
}

static void fake_start(struct faker *f, const char *dir, const char *name, const char *answer)
{
	_cleanup_free_ char *path = xasprintf("%s/%s", dir, name);

	f->listener = listen_at(path);
	f->answer = answer;
	assert_int_equal(pthread_create(&f->thread, NULL, fake, f), 0);
}

static void fake_stop(struct faker *f)
{
	shutdown(f->listener, SHUT_RDWR);
	pthread_join(f->thread, NULL);
	close(f->listener);
}

static void instances_are_sockets_behind_which_there_is_an_opensm(void **state)
{
	struct server *s = *state;
	struct instances found;
	struct faker f[5];
	_cleanup_free_ char *dead = xasprintf("%s/dead.sock", s->dir);

	/* The one of set_up() does not answer: not ours either, once it has hung up. */
	shutdown(s->listener, SHUT_RDWR);
	close(listen_at(dead));
	fake_start(&f[0], s->dir, "10.sock", "{\"parameters\": {\"product\": \"opensm\"}}");
	fake_start(&f[1], s->dir, "2.sock", "{\"parameters\": {\"product\": \"opensm\"}}");
	fake_start(&f[2], s->dir, "other.sock", "{\"parameters\": {\"product\": \"other\"}}");
	fake_start(&f[3], s->dir, "secret.sock", "{\"error\": \"org.opensm.Denied\"}");
	fake_start(&f[4], s->dir, "noend", "{\"parameters\": {\"product\": \"opensm\"}}");
	assert_int_equal(instances_find(s->dir, &found), 0);
	for (unsigned i = 0; i < ARRAY_SIZE(f); i++)
		fake_stop(&f[i]);
	assert_int_equal(found.n, 3);
	assert_string_equal(found.all[0].name, "2");
	assert_string_equal(found.all[1].name, "10");
	assert_string_equal(found.all[2].name, "secret");
	instances_clear(&found);
	assert_int_equal(instances_find("/nonexistent", &found), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
		cmocka_unit_test(words_may_be_abbreviated_while_nothing_else_begins_so),
		cmocka_unit_test(numbers_are_for_people),
		cmocka_unit_test(tables_are_aligned),
		cmocka_unit_test(one_line_per_record_has_tabs),
		cmocka_unit_test(colours_change_no_width),
		cmocka_unit_test(a_table_without_rows_is_its_heads),
		cmocka_unit_test(what_is_missing_or_of_another_type_counts_as_nothing),
		T(a_call_is_one_object_and_a_nul),
		T(answers_come_in_pieces_or_together),
		T(nonsense_is_no_answer),
		cmocka_unit_test(nobody_there_is_told_by_errno),
		T(instances_are_sockets_behind_which_there_is_an_opensm),
	};

	return cmocka_run_group_tests_name("opensmctl", tests, NULL, NULL);
}
