// SPDX-License-Identifier: BSD-2-Clause
/*
 * opensmctl's own parts: words, tables, answers as they come in pieces, which sockets are daemons.
 */
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

#include "client/client.h"
#include "opensmctl/talk/ctl.h"
#include "tests/lib/scratch.h"
#include "util/mem.h"
#include "util/str.h"

/* ---- words ---------------------------------------------------------------------------------- */

static void words_may_be_abbreviated_while_nothing_else_begins_so(void **state)
{
	static const char *const words[] = { "sweep",  "sweeping", "status",
					     "reload", "reroute",  NULL };

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

/* ---- commands that are one call -------------------------------------------------------------- */

static char *called; /* "METHOD PARAMETERS", of the last call; NULL: there was none */

/* call.c's: there is no daemon, but a partition whose P_Key is written as its name. */
struct json_object *ctl_call(struct ctl *c, const char *method, struct json_object *parameters)
{
	if (!strcmp(method, "TenantPartitions"))
		return json_tokener_parse(
			"{\"partitions\":[{\"name\":\"blue\",\"pkey\":\"blue\"}]}");
	free(called);
	called = xasprintf(
		"%s %s", method,
		parameters ? json_object_to_json_string_ext(parameters, JSON_C_TO_STRING_PLAIN)
			   : "-");
	json_object_put(parameters);
	c->exit_code = CTL_NO_DAEMON;
	return NULL;
}

/* Not called. */
int ctl_call_more(struct ctl *c, const char *method, struct json_object *parameters,
		  bool (*on_reply)(void *arg, struct json_object *reply), void *arg)
{
	fail();
	return CTL_REFUSED;
}

static void print_nothing(struct ctl *c, struct json_object *answer, struct json_object *asked)
{
}

static int run_itself(struct ctl *c, int argc, char **argv)
{
	return argc;
}

static const struct ctl_command subs[] = {
	{ .name = "kick",
	  .scope = CTL_ACTS,
	  .method = "Kick",
	  .as = "how",
	  .print = print_nothing },
	{ .name = "knock", .scope = CTL_ACTS, .run = run_itself },
	{ 0 },
};
static const struct ctl_command door = {
	.name = "door",
	.arguments = "",
	.scope = CTL_SHOWS,
	.subs = subs,
	.method = "Door",
	.takes =
		(const struct ctl_word[]){
			{ CTL_ONE_OF, .parameter = "side",
			  .among = (const char *const[]){ "front", "back", NULL } },
			{ CTL_FLAG, .option = "--open", .parameter = "open" },
			{ CTL_OFF, .option = "--shut", .parameter = "open" },
			{ CTL_TEXT, .option = "--why", .parameter = "why" },
			{ CTL_NUMBER, .option = "--width", .parameter = "width", .most = 12,
			  .any_base = true, .what = "width" },
			{ CTL_TIME, .option = "--until", .parameter = "until" },
			{ 0 },
		},
	.print = print_nothing,
};
/* Of any name: its words are not abbreviated. */
static const struct ctl_command room = {
	.name = "room",
	.arguments = "",
	.subs = subs,
	.method = "Room",
	.takes =
		(const struct ctl_word[]){
			{ CTL_TEXT, .parameter = "from", .missing = "from where?" },
			{ CTL_TEXT, .parameter = "to" },
			{ 0 },
		},
	.print = print_nothing,
};

/* The call that the words become; "": they are refused as usage. */
static const char *call_of(const struct ctl_command *command, const char *line)
{
	_cleanup_free_ char *copy = xstrdup(line);
	char *argv[20] = { NULL }, *rest = copy, *word;
	struct ctl c = { 0 };
	int argc = 0;

	while ((word = strsep(&rest, " ")))
		if (*word)
			argv[argc++] = word;
	free(take(called));
	return ctl_do(&c, command, argc, argv) == CTL_USAGE ? "" : called;
}

static void words_become_parameters_by_the_table_of_the_command(void **state)
{
	const struct {
		const struct ctl_command *command;
		const char *line, *call;
	} cases[] = {
		{ &door, "", "Door -" },
		{ &door, "fr --open", "Door {\"side\":\"front\",\"open\":true}" },
		{ &door, "-open", "Door {\"open\":true}" },
		{ &door, "--shut", "Door {\"open\":false}" },
		{ &door, "--width 12", "Door {\"width\":12}" },
		{ &door, "--width=0xc", "Door {\"width\":12}" },
		{ &door, "--width 13", "" },
		{ &door, "--width wide", "" },
		{ &door, "--width", "" },
		{ &door, "---open", "" },
		{ &door, "open", "" },
		{ &door, "--why x=y back", "Door {\"why\":\"x=y\",\"side\":\"back\"}" },
		{ &door, "--why=a=b", "Door {\"why\":\"a=b\"}" },
		{ &door, "--until 15m", "Door {\"until\":900}" },
		{ &door, "--until=3d", "Door {\"until\":259200}" },
		{ &door, "front back", "" },
		{ &door, "--until 15x", "" },
		{ &door, "--until", "" },
		{ &door, "--why", "" },
		{ &door, "--open=1", "" },
		{ &door, "--wh x", "" },
		{ &door, "garden", "" },
		{ &door, "kick", "Kick {\"how\":\"kick\"}" },
		{ &door, "ki", "Kick {\"how\":\"kick\"}" },
		{ &door, "kick it", "" },
		{ &room, "a b", "Room {\"from\":\"a\",\"to\":\"b\"}" },
		{ &room, "ki", "Room {\"from\":\"ki\"}" },
		{ &room, "kick", "Kick {\"how\":\"kick\"}" },
		{ &room, "", "" },
		{ &room, "a b c", "" },
		{ &room, "-x", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *call = call_of(cases[i].command, cases[i].line);

		if (strcmp(call, cases[i].call))
			fail_msg("'%s': %s", cases[i].line, call);
	}
	free(take(called));
}

/* Of several instances each is shown; one is acted on. */
static void the_first_word_may_be_a_command_of_its_own(void **state)
{
	char k[] = "k", knoc[] = "knoc", x[] = "x";
	char *argv[] = { knoc, x, NULL };
	struct ctl c = { 0 };
	int skip;

	assert_ptr_equal(ctl_meant(&door, 2, argv, &skip), &subs[1]);
	assert_int_equal(skip, 1);
	assert_int_equal(ctl_do(&c, &door, 2, argv), 1);
	argv[0] = k; /* may be either */
	assert_ptr_equal(ctl_meant(&door, 2, argv, &skip), &door);
	assert_ptr_equal(ctl_meant(&door, 0, argv, &skip), &door);
	assert_int_equal(skip, 0);
	assert_ptr_equal(ctl_meant(&room, 2, argv, &skip), &room);
}

/* ---- changes of partitions ------------------------------------------------------------------ */

#define CHANGE "ChangePartition "

static void words_become_a_change(void **state)
{
	static const char *const cases[][2] = {
		{ "create 0x5", "{'action':'create','pkey':'0x5'}" },
		{ "create 5 name=blue mtu=4096 rate=100 sl=3 ipoib=no",
		  "{'action':'create','pkey':'5','name':'blue','mtu':5,'rate':16,'sl':3,"
		  "'ip_over_ib':false}" },
		{ "configure blue rate=2.5 --no-wait",
		  "{'action':'configure','pkey':'blue','rate':2,'wait':false}" },
		{ "add blue n1 n2=limited 0x1,index0 n3/2=full,index0",
		  "{'action':'add','members':[{'host':'n1'},{'membership':'limited','host':'n2'},"
		  "{'index0':true,'guid':'0x1'},"
		  "{'index0':true,'membership':'full','host':'n3\\/2'}],'pkey':'blue'}" },
		{ "remove --keep-empty 5 --if-generation 12 --dry-run n1",
		  "{'action':'remove','members':[{'host':'n1'}],'keep_empty':true,'pkey':'5',"
		  "'if_generation':12,'dry_run':true}" },
		{ "set 5", "{'action':'set','members':[],'pkey':'5'}" },
		{ "delete 5 --if-generation=0",
		  "{'action':'delete','pkey':'5','if_generation':0}" },
		{ "delete 5 --if-generation=010",
		  "{'action':'delete','pkey':'5','if_generation':10}" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *text = xstrdup(call_of(&ctl_partitions, cases[i][0]));

		assert_true(str_starts(text, CHANGE));
		for (char *c = text; *c; c++)
			*c = *c == '"' ? '\'' : *c;
		assert_string_equal(text + strlen(CHANGE), cases[i][1]);
	}
}

static void other_words_are_not_understood(void **state)
{
	static const char *const cases[] = {
		"create",
		"create 5 mtu=2000",
		"create 5 mtu=4",
		"create 5 rate=3",
		"create 5 sl=16",
		"create 5 ipoib=maybe",
		"create 5 n1",
		"create 5 colour=red",
		"add 5",
		"remove 5 --no-wait",
		"delete 5 n1",
		"add 5 n1 --keep-empty",
		"add 5 n1 --force",
		"add 5 n1 --if-generation",
		"add 5 n1 --if-generation=x",
		"add 5 n1 --if-generation=0x10",
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_string_equal(call_of(&ctl_partitions, cases[i]), "");
}

static void only_whole_words_are_subcommands(void **state)
{
	assert_string_equal(call_of(&ctl_partitions, "sho"),
			    "Partitions {\"partition\":\"sho\"}");
	assert_string_equal(call_of(&ctl_partitions, "list"), "Partitions -");
	free(take(called));
}

/* ---- tables --------------------------------------------------------------------------------- */

/* What a table prints, to be freed. */
static enum ctl_color state_tint(struct json_object *o)
{
	return strcmp(js_str(o, "state"), "ACTIVE") ? CTL_PLAIN : CTL_GOOD;
}

static char *name_text(struct json_object *o)
{
	return xstrdup(js_str(o, "name"));
}

static const struct column columns[] = {
	{ "NAME", .text = name_text, .color = CTL_NAME },
	{ "LID>", COLUMN_INT, .key = "lid" },
	{ "VL>", COLUMN_INT, .key = "vl", .optional = true },
	{ "STATE", .key = "state", .tint = state_tint },
	{ 0 },
};

static char *print_records(const struct ctl *c, const struct column *of, const char *json)
{
	struct json_object *records = json_tokener_parse(json);
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len), *real = stdout;

	stdout = out;
	ctl_print_table(c, of, records);
	stdout = real;
	fclose(out);
	json_object_put(records);
	return text;
}

static char *printed(const struct ctl *c)
{
	return print_records(c, columns,
			     "[{\"name\": \"h1\", \"lid\": 7, \"state\": \"ACTIVE\"},"
			     " {\"name\": \"a-long-name-\xc3\xa9\", \"lid\": 12345}]");
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

	assert_non_null(
		strstr(text, "\033[1mh1\033[0m                 7  \033[32mACTIVE\033[0m\n"));
}

static void a_table_without_rows_is_its_heads(void **state)
{
	static const struct column heads[] = { { "A", .key = "a" }, { "B", .key = "b" }, { 0 } };
	const struct ctl c = { 0 };
	_cleanup_free_ char *text = print_records(&c, heads, "[]");

	assert_string_equal(text, "A  B\n");
}

static void columns_show_members_by_their_kind(void **state)
{
	static const struct column kinds[] = {
		{ "#>", .kind = COLUMN_INDEX },
		{ "AT", .kind = COLUMN_PLACE },
		{ "TO", COLUMN_PLACE, .key = "peer" },
		{ "Gb/s>", COLUMN_GBPS, .key = "gbps" },
		{ "N>", COLUMN_LEN, .key = "list" },
		{ "LID>", COLUMN_NATURAL, .key = "lid" },
		{ "HOPS>", COLUMN_INT, .key = "hops", .otherwise = "no way" },
		{ "VL>", COLUMN_INT, .key = "vl", .optional = true },
		{ 0 },
	};
	const struct ctl c = { .oneline = true };
	_cleanup_free_ char *text = print_records(
		&c, kinds,
		"[{\"name\": \"s1\", \"port\": 3, \"gbps\": 12.5, \"list\": [1, 2], \"lid\": 0,"
		"  \"vl\": 1, \"peer\": {\"name\": \"s2\", \"port\": 0}},"
		" {\"port_guid\": \"0x1\", \"gbps\": 400, \"lid\": 5, \"hops\": 2, \"vl\": 0}]");

	assert_string_equal(text, "0\ts1/3\ts2\t12.5\t2\t-\tno way\t1\n"
				  "1\t0x1 (not in the fabric)\t-\t400\t0\t5\t2\t0\n");
}

/* ---- JSON ----------------------------------------------------------------------------------- */

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

/* ---- the wire ------------------------------------------------------------------------------- */

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
	assert_string_equal(text,
			    "{\"method\":\"org.opensm.Sweep\",\"parameters\":{\"kind\":\"heavy\"},"
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

/* ---- instances ------------------------------------------------------------------------------ */

struct faker {
	int listener;
	const char *answer;
	pthread_t thread;
};

/* Answers all clients the same, until its listener is shut down. */
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
		cmocka_unit_test(words_become_a_change),
		cmocka_unit_test(other_words_are_not_understood),
		cmocka_unit_test(only_whole_words_are_subcommands),
		cmocka_unit_test(words_become_parameters_by_the_table_of_the_command),
		cmocka_unit_test(the_first_word_may_be_a_command_of_its_own),
		cmocka_unit_test(tables_are_aligned),
		cmocka_unit_test(one_line_per_record_has_tabs),
		cmocka_unit_test(colours_change_no_width),
		cmocka_unit_test(a_table_without_rows_is_its_heads),
		cmocka_unit_test(columns_show_members_by_their_kind),
		cmocka_unit_test(what_is_missing_or_of_another_type_counts_as_nothing),
		T(a_call_is_one_object_and_a_nul),
		T(answers_come_in_pieces_or_together),
		T(nonsense_is_no_answer),
		cmocka_unit_test(nobody_there_is_told_by_errno),
		T(instances_are_sockets_behind_which_there_is_an_opensm),
	};

	return cmocka_run_group_tests_name("opensmctl", tests, NULL, NULL);
}
