// SPDX-License-Identifier: BSD-2-Clause
/* Users, tokens, sessions, and what is remembered of passwords. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "rest/auth/password.h"
#include "rest/auth/penalty.h"
#include "rest/auth/sessions.h"
#include "rest/auth/tokens.h"
#include "rest/auth/users.h"
#include "rest/auth/verified.h"

#define HASH                                                                                       \
	"$6$saltsalt$qFmFH.bQmmtXzyBY0s9v7Oicd2z4XSIecDzlB5KiA2/"                                  \
	"jctKu9YterLp8wwnSq.qc.eoxqOmSuNp2xS0ktL3nh/"
#define NOW	 (1000 * MONO_S)

static struct users *parse(const char *text, struct fault *fault)
{
	return users_parse("users", text, strlen(text), fault);
}

static void refused(const char *text, const char *place)
{
	struct fault fault = { "" };

	assert_null(parse(text, &fault));
	if (strncmp(fault.text, place, strlen(place)))
		fail_msg("'%s' instead of %s", fault.text, place);
}

/* ---- secrets ------------------------------------------------------------------------------- */

static void base64_is_read_as_clients_write_it(void **state)
{
	static const struct {
		const char *text, *bytes;
	} rows[] = {
		{ "", "" },	    { "Zg==", "f" },	   { "Zm8=", "fo" },
		{ "Zm9v", "foo" },  { "Zm9vYg==", "foob" }, { "Zm9vYg", "foob" },
		{ "Zm9vYmE", "fooba" },
	};
	uint8_t bytes[16];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		size_t len = strlen(rows[i].bytes);

		assert_int_equal(secret_from_base64(rows[i].text, bytes, sizeof(bytes)), len);
		assert_memory_equal(bytes, rows[i].bytes, len);
	}
}

static void base64_that_is_none_is_refused(void **state)
{
	static const char *const texts[] = { "Z",     "Zg=",  "Zg===", "Z g=",
					     "Zg==x", "====", "Zm9vY", "-_" };
	uint8_t bytes[3];

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		assert_true(secret_from_base64(texts[i], bytes, sizeof(bytes)) < 0);
	assert_true(secret_from_base64("Zm9vYg==", bytes, sizeof(bytes)) < 0);
	assert_int_equal(secret_from_base64("Zm9v", bytes, sizeof(bytes)), 3);
}

static void hexadecimal_there_and_back(void **state)
{
	uint8_t bytes[SECRET_BYTES], back[SECRET_BYTES];
	char text[SECRET_TEXT];

	secret_random(bytes, sizeof(bytes));
	secret_to_hex(bytes, sizeof(bytes), text);
	assert_int_equal(secret_from_hex(text, back, sizeof(back)), 0);
	assert_memory_equal(bytes, back, sizeof(back));
	text[3] = 'g';
	assert_true(secret_from_hex(text, back, sizeof(back)) < 0);
	assert_true(secret_from_hex("00", back, sizeof(back)) < 0);
}

/* ---- users --------------------------------------------------------------------------------- */

static void users_are_read(void **state)
{
	struct fault fault;
	struct users *u = parse("# a comment\n\nann:" HASH ":admin\r\n"
				"rob:!:tenant:cert-san=rob.example,cert-san=spiffe://x/y\n"
				"zoe:*:read",
				&fault);

	assert_non_null(u);
	assert_int_equal(users_count(u), 3);
	assert_int_equal(users_find(u, "ann")->right, REST_ADMIN);
	assert_string_equal(users_find(u, "ann")->hash, HASH);
	assert_null(users_find(u, "rob")->hash);
	assert_string_equal(users_by_san(u, "spiffe://x/y")->name, "rob");
	assert_null(users_by_san(u, "x"));
	assert_null(users_find(u, "an"));
	assert_string_equal(users_dummy_hash(u), HASH);
	users_free(u);
}

static void a_fault_refuses_the_whole_file_and_names_its_place(void **state)
{
	refused("ann:" HASH ":read\nbob\n", "users:2:1: ");
	refused("ann:" HASH ":reader\n", "users:1:104: ");
	refused("ann:plain:read\n", "users:1:5: ");
	refused("ann:$1$abcdefgh$0123456789012345678901:read\n", "users:1:5: ");
	refused("ann:$6$saltsalt$:read\n", "users:1:5: ");
	refused("ann::read\n", "users:1:5: ");
	refused("a n:!:read\n", "users:1:1: ");
	refused(":!:read\n", "users:1:1: ");
	refused("ann:!:read\nann:!:admin\n", "users:2:1: ");
	refused("ann:!:read:cert-san=\n", "users:1:12: ");
	refused("ann:!:read:x=y\n", "users:1:12: ");
	refused("ann:!:read:cert-san=a\nbob:!:read:cert-san=a\n", "users:2:12: ");
	refused("ann:!:read\001\n", "users:1:11: ");
}

static void a_file_that_others_can_read_is_refused(void **state)
{
	char path[] = "/tmp/test-rest-users.XXXXXX";
	struct fault fault = { "" };
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "ann:!:read\n", 11), 11);
	assert_int_equal(fchmod(fd, 0644), 0);
	assert_null(users_load(path, &fault));
	assert_non_null(strstr(fault.text, "0644"));
	assert_int_equal(fchmod(fd, 0640), 0);
	users_free(users_load(path, &fault));
	assert_int_equal(fchmod(fd, 0660), 0);
	assert_null(users_load(path, &fault));
	close(fd);
	unlink(path);
}

static void adding_replaces_one_user_and_keeps_the_rest(void **state)
{
	char folder[] = "/tmp/test-rest-add.XXXXXX", path[64];
	struct fault fault = { "" };
	struct users *u;

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/users", folder);
	assert_int_equal(users_add(path, &(struct user){ .name = (char[]){ "ann" } }, &fault), 0);
	assert_int_equal(users_add(path, &(struct user){ .name = (char[]){ "an" } }, &fault), 0);
	assert_int_equal(users_add(path,
				   &(struct user){ .name = (char[]){ "ann" },
						   .hash = (char[]){ HASH },
						   .right = REST_TENANT },
				   &fault),
			 0);
	assert_true(users_add(path, &(struct user){ .name = (char[]){ "a:b" } }, &fault) < 0);
	u = users_load(path, &fault);
	assert_non_null(u);
	assert_int_equal(users_count(u), 2);
	assert_int_equal(users_find(u, "ann")->right, REST_TENANT);
	users_free(u);
	unlink(path);
	rmdir(folder);
}

static void passwords_fit_their_hash_only(void **state)
{
	char *hash = password_new_hash("secret");

	assert_non_null(hash);
	assert_true(password_hash_is_valid(hash));
	assert_true(password_fits("secret", hash));
	assert_false(password_fits("secret ", hash));
	assert_false(password_fits("", hash));
	assert_true(password_hash_is_valid(PASSWORD_DUMMY));
	assert_false(password_fits("", PASSWORD_DUMMY));
	assert_false(password_hash_is_valid("!"));
	free(hash);
}

static void users_agree_while_hash_and_right_stay(void **state)
{
	struct fault fault;
	struct users *a = parse("ann:" HASH ":read\nbob:!:read\neve:!:read\nzoe:!:admin\n", &fault);
	struct users *b = parse("ann:" HASH ":read:cert-san=x\nbob:" HASH ":read\neve:!:tenant\n",
				&fault);

	assert_true(users_agree(a, b, "ann"));
	assert_false(users_agree(a, b, "bob"));
	assert_false(users_agree(a, b, "eve"));
	assert_false(users_agree(a, b, "zoe"));
	assert_string_equal(users_at(a, 3)->name, "zoe");
	assert_null(users_at(a, 4));
	users_free(a);
	users_free(b);
}

/* ---- tokens -------------------------------------------------------------------------------- */

/* Until the next call; NULL: none. */
static const char *user_of(struct tokens *t, const char *text, int64_t now)
{
	static char user[USER_NAME_MAX + 1];

	return tokens_user(t, text, now, user) ? user : NULL;
}

static void a_token_is_kept_as_a_hash_until_it_is_revoked(void **state)
{
	char folder[] = "/tmp/test-rest-tokens.XXXXXX", path[64], text[SECRET_TEXT], id[9];
	struct fault fault;
	struct token token;
	struct tokens *t;

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/tokens", folder);
	t = tokens_load(path, &fault);
	assert_int_equal(tokens_issue(t, "ann", 100, text), 0);
	tokens_free(t);
	t = tokens_load(path, &fault);
	assert_non_null(t);
	assert_string_equal(user_of(t, text, 200), "ann");
	assert_null(user_of(t, text, (int64_t)101 + TOKEN_LIFE));
	snprintf(id, sizeof(id), "%.8s", text);
	assert_true(tokens_at(t, 0, &token));
	assert_string_equal(token.id, id);
	assert_false(tokens_at(t, 1, &token));
	assert_int_equal(tokens_revoke(t, id, "bob"), -ENOENT);
	assert_int_equal(tokens_revoke(t, id, "ann"), 0);
	assert_null(user_of(t, text, 200));
	tokens_free(t);
	t = tokens_load(path, &fault);
	assert_null(user_of(t, text, 200));
	tokens_free(t);
	unlink(path);
	rmdir(folder);
}

static void tokens_of_a_user_are_bounded(void **state)
{
	struct fault fault;
	struct tokens *t = tokens_load(NULL, &fault);
	char text[SECRET_TEXT];

	for (unsigned i = 0; i < TOKENS_PER_USER; i++)
		assert_int_equal(tokens_issue(t, "ann", 100, text), 0);
	assert_int_equal(tokens_issue(t, "ann", 100, text), -ENOSPC);
	assert_int_equal(tokens_issue(t, "bob", 100, text), 0);
	assert_int_equal(tokens_issue(t, "ann", (int64_t)200 + TOKEN_LIFE, text), 0);
	tokens_free(t);
}

static void a_token_that_cannot_be_stored_is_none(void **state)
{
	struct fault fault;
	struct tokens *t = tokens_load("/nonexistent/folder/tokens", &fault);
	struct token token;
	char text[SECRET_TEXT];

	assert_non_null(t);
	assert_true(tokens_issue(t, "ann", 100, text) < 0);
	assert_null(user_of(t, text, 100));
	assert_false(tokens_at(t, 0, &token));
	tokens_free(t);
}

static void a_token_that_cannot_be_revoked_on_disk_stays(void **state)
{
	char folder[] = "/tmp/test-rest-tokens.XXXXXX", path[64], text[SECRET_TEXT];
	struct fault fault;
	struct token token;
	struct tokens *t;

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/tokens", folder);
	t = tokens_load(path, &fault);
	assert_int_equal(tokens_issue(t, "ann", 100, text), 0);
	assert_true(tokens_at(t, 0, &token));
	unlink(path);
	rmdir(folder);
	assert_true(tokens_revoke(t, token.id, "ann") < 0);
	assert_string_equal(user_of(t, text, 200), "ann");
	tokens_free(t);
}

static void tokens_of_users_that_are_gone_are_dropped(void **state)
{
	char folder[] = "/tmp/test-rest-tokens.XXXXXX", path[64];
	char ann[SECRET_TEXT], bob[SECRET_TEXT];
	struct fault fault;
	struct users *users = parse("ann:!:tenant\n", &fault);
	struct tokens *t;

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/tokens", folder);
	t = tokens_load(path, &fault);
	assert_int_equal(tokens_issue(t, "bob", 100, bob), 0);
	assert_int_equal(tokens_issue(t, "ann", 100, ann), 0);
	assert_int_equal(tokens_drop_strangers(t, users), 1);
	assert_int_equal(tokens_drop_strangers(t, users), 0);
	assert_int_equal(tokens_write(t), 0);
	tokens_free(t);
	t = tokens_load(path, &fault);
	assert_null(user_of(t, bob, 200));
	assert_string_equal(user_of(t, ann, 200), "ann");
	tokens_free(t);
	users_free(users);
	unlink(path);
	rmdir(folder);
}

struct issuer {
	struct tokens *tokens;
	const char *user;
	int result;
};

static void *issue_some(void *arg)
{
	struct issuer *s = arg;
	char text[SECRET_TEXT], user[USER_NAME_MAX + 1];

	for (unsigned i = 0; i < 20 && !s->result; i++) {
		s->result = tokens_issue(s->tokens, s->user, 100, text);
		if (!s->result && !tokens_user(s->tokens, text, 100, user))
			s->result = -ENOENT;
	}
	return NULL;
}

static void threads_that_make_tokens_lose_none(void **state)
{
	char folder[] = "/tmp/test-rest-tokens.XXXXXX", path[64];
	struct issuer issuers[] = { { .user = "ann" }, { .user = "bob" }, { .user = "eve" } };
	pthread_t threads[ARRAY_SIZE(issuers)];
	struct fault fault;
	struct token token;
	struct tokens *t;
	size_t n = 0;

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/tokens", folder);
	t = tokens_load(path, &fault);
	for (size_t i = 0; i < ARRAY_SIZE(issuers); i++) {
		issuers[i].tokens = t;
		assert_int_equal(pthread_create(&threads[i], NULL, issue_some, &issuers[i]), 0);
	}
	for (size_t i = 0; i < ARRAY_SIZE(issuers); i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(issuers[i].result, 0);
	}
	tokens_free(t);
	t = tokens_load(path, &fault);
	while (tokens_at(t, n, &token))
		n++;
	assert_int_equal(n, 60);
	tokens_free(t);
	unlink(path);
	rmdir(folder);
}

/* ---- sessions ------------------------------------------------------------------------------ */

static void a_session_ends_by_idleness_by_age_and_by_logout(void **state)
{
	struct sessions *s = sessions_new();
	char idle[SECRET_TEXT], old[SECRET_TEXT], gone[SECRET_TEXT];
	mono_t now = NOW;

	sessions_start(s, "ann", now, idle);
	sessions_start(s, "ann", now, old);
	sessions_start(s, "ann", now, gone);
	assert_string_equal(sessions_use(s, idle, now), "ann");
	sessions_end(s, gone);
	assert_null(sessions_use(s, gone, now));
	assert_null(sessions_use(s, idle, now + SESSION_IDLE + 1));
	for (mono_t at = now; at <= now + SESSION_LIFE; at += SESSION_IDLE)
		assert_non_null(sessions_use(s, old, at));
	assert_null(sessions_use(s, old, now + SESSION_LIFE + 1));
	assert_null(sessions_use(s, "", now));
	sessions_free(s);
}

static void sessions_of_one_user_end(void **state)
{
	struct sessions *s = sessions_new();
	char ann[SECRET_TEXT], other[SECRET_TEXT], bob[SECRET_TEXT];

	sessions_start(s, "ann", NOW, ann);
	sessions_start(s, "ann", NOW, other);
	sessions_start(s, "bob", NOW, bob);
	sessions_end_user(s, "ann");
	assert_null(sessions_use(s, ann, NOW));
	assert_null(sessions_use(s, other, NOW));
	assert_non_null(sessions_use(s, bob, NOW));
	sessions_free(s);
}

static void a_user_with_many_sessions_ends_only_its_own(void **state)
{
	struct sessions *s = sessions_new();
	char other[SECRET_TEXT], first[SECRET_TEXT], text[SECRET_TEXT];

	sessions_start(s, "bob", NOW, other);
	sessions_start(s, "ann", NOW + 1, first);
	for (unsigned i = 0; i < 2 * SESSIONS_MAX; i++)
		sessions_start(s, "ann", NOW + 2 + i, text);
	assert_non_null(sessions_use(s, other, NOW + 1000));
	assert_null(sessions_use(s, first, NOW + 1000));
	assert_non_null(sessions_use(s, text, NOW + 1000));
	sessions_free(s);
}

/* ---- passwords that are known, failures ---------------------------------------------------- */

static void a_verified_password_is_known_for_a_while(void **state)
{
	struct verified *v = verified_new();

	assert_false(verified_has(v, "ann", "x", NOW));
	verified_add(v, "ann", "x", NOW);
	assert_true(verified_has(v, "ann", "x", NOW + 1));
	assert_false(verified_has(v, "ann", "y", NOW + 1));
	assert_false(verified_has(v, "bob", "x", NOW + 1));
	assert_false(verified_has(v, "ann", "x", NOW + 1 + VERIFIED_LIFE));
	verified_drop_all(v);
	assert_false(verified_has(v, "ann", "x", NOW + 1));
	verified_free(v);
}

static void a_verified_password_lives_as_long_as_it_is_used_up_to_a_limit(void **state)
{
	struct verified *v = verified_new();
	mono_t now = NOW;

	verified_add(v, "ann", "x", now);
	for (; now < NOW + VERIFIED_MOST; now += VERIFIED_LIFE / 2)
		assert_true(verified_has(v, "ann", "x", now));
	assert_false(verified_has(v, "ann", "x", now));
	assert_true(verified_had(v, "ann", "x", now));
	assert_false(verified_had(v, "ann", "y", now));
	verified_add(v, "ann", "x", now);
	assert_true(verified_has(v, "ann", "x", now));
	assert_true(verified_had(v, "ann", "x", now + VERIFIED_RECENT - 1));
	assert_false(verified_had(v, "ann", "x", now + VERIFIED_RECENT));
	verified_drop_all(v);
	assert_false(verified_had(v, "ann", "x", now));
	verified_free(v);
}

static void the_oldest_verified_password_makes_room(void **state)
{
	struct verified *v = verified_new();
	char password[16];

	for (unsigned i = 0; i <= VERIFIED_MAX; i++) {
		snprintf(password, sizeof(password), "%u", i);
		verified_add(v, "ann", password, NOW + i);
	}
	assert_false(verified_has(v, "ann", "0", NOW + VERIFIED_MAX));
	assert_true(verified_has(v, "ann", "1", NOW + VERIFIED_MAX));
	verified_free(v);
}

static void failures_cost_time_that_doubles_up_to_a_limit(void **state)
{
	struct penalty_limit limit = { .free = 3, .first = 1 * MONO_S, .most = 5 * MONO_S };
	struct penalty *p = penalty_new(&limit);

	for (unsigned i = 0; i < 3; i++)
		penalty_failed(p, "a", NOW);
	assert_int_equal(penalty_wait(p, "a", NOW), 0);
	penalty_failed(p, "a", NOW);
	assert_int_equal(penalty_wait(p, "a", NOW), 1 * MONO_S);
	penalty_failed(p, "a", NOW);
	assert_int_equal(penalty_wait(p, "a", NOW), 2 * MONO_S);
	for (unsigned i = 0; i < 100; i++)
		penalty_failed(p, "a", NOW);
	assert_int_equal(penalty_wait(p, "a", NOW), 5 * MONO_S);
	assert_int_equal(penalty_wait(p, "b", NOW), 0);
	penalty_passed(p, "a");
	assert_int_equal(penalty_wait(p, "a", NOW), 0);
	penalty_free(p);
}

static void failures_of_many_addresses_do_not_outgrow_the_table(void **state)
{
	struct penalty_limit limit = { .free = 1, .first = 1 * MONO_S, .most = 1 * MONO_S };
	struct penalty *p = penalty_new(&limit);
	char key[16];

	for (unsigned i = 0; i < 20 * PENALTY_KEYS; i++) {
		snprintf(key, sizeof(key), "%u", i);
		penalty_failed(p, key, NOW + i);
	}
	penalty_failed(p, "a", NOW + MONO_S);
	penalty_failed(p, "a", NOW + MONO_S);
	assert_int_equal(penalty_wait(p, "a", NOW + MONO_S), 1 * MONO_S);
	assert_int_equal(penalty_wait(p, "a", NOW + MONO_S + PENALTY_FORGET), 0);
	penalty_failed(p, "a", NOW + 2 * MONO_S + PENALTY_FORGET);
	assert_int_equal(penalty_wait(p, "a", NOW + 2 * MONO_S + PENALTY_FORGET), 0);
	penalty_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(base64_is_read_as_clients_write_it),
		cmocka_unit_test(base64_that_is_none_is_refused),
		cmocka_unit_test(hexadecimal_there_and_back),
		cmocka_unit_test(users_are_read),
		cmocka_unit_test(a_fault_refuses_the_whole_file_and_names_its_place),
		cmocka_unit_test(a_file_that_others_can_read_is_refused),
		cmocka_unit_test(adding_replaces_one_user_and_keeps_the_rest),
		cmocka_unit_test(passwords_fit_their_hash_only),
		cmocka_unit_test(users_agree_while_hash_and_right_stay),
		cmocka_unit_test(a_token_that_cannot_be_revoked_on_disk_stays),
		cmocka_unit_test(tokens_of_users_that_are_gone_are_dropped),
		cmocka_unit_test(threads_that_make_tokens_lose_none),
		cmocka_unit_test(sessions_of_one_user_end),
		cmocka_unit_test(a_verified_password_lives_as_long_as_it_is_used_up_to_a_limit),
		cmocka_unit_test(a_token_is_kept_as_a_hash_until_it_is_revoked),
		cmocka_unit_test(tokens_of_a_user_are_bounded),
		cmocka_unit_test(a_token_that_cannot_be_stored_is_none),
		cmocka_unit_test(a_session_ends_by_idleness_by_age_and_by_logout),
		cmocka_unit_test(a_user_with_many_sessions_ends_only_its_own),
		cmocka_unit_test(a_verified_password_is_known_for_a_while),
		cmocka_unit_test(the_oldest_verified_password_makes_room),
		cmocka_unit_test(failures_cost_time_that_doubles_up_to_a_limit),
		cmocka_unit_test(failures_of_many_addresses_do_not_outgrow_the_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
