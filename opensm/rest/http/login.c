// SPDX-License-Identifier: BSD-2-Clause
/*
 * A password takes the short way if it was verified before; else it waits for a thread, and counts
 * as a failure of its address and of its user if it is wrong. An unknown user costs the same.
 */
#include "rest/http/login.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "rest/auth/password.h"
#include "rest/auth/penalty.h"
#include "rest/auth/verified.h"
#include "util/log.h"

/* crypt(3) needs a processor and 16 MB each; the queue is half a second's work. */
static const struct workers_limits hash_limits = {
	.threads = 2,
	.queue = 32,
	.owner_threads = 1,
	.owner_queue = 4,
};
static const struct penalty_limit address_limit = {
	.free = 5,
	.first = 1 * MONO_S,
	.most = 60 * MONO_S,
};
/* Looser: strangers of many addresses must not keep a user out for long. */
static const struct penalty_limit user_limit = {
	.free = 50,
	.first = 1 * MONO_S,
	.most = 10 * MONO_S,
};

struct login {
	struct users *users;
	unsigned round; /* number of readings of the file of users */
	struct tokens *tokens;
	struct sessions *sessions;
	struct verified *verified;
	struct penalty *by_address, *by_user;
	struct workers *workers;
	struct work writing; /* job that writes the file of tokens */
	int written;	     /* its result */
	bool is_writing, write_again;
};

struct login *login_new(const char *users_file, const char *state_dir, struct fault *fault)
{
	_cleanup_(login_freep) struct login *l = xcalloc(1, sizeof(*l));
	_cleanup_free_ char *path = NULL;

	assert(users_file && state_dir && fault);
	l->users = users_load(users_file, fault);
	if (!l->users)
		return NULL;
	if (*state_dir)
		path = xasprintf("%s/tokens", state_dir);
	l->tokens = tokens_load(path, fault);
	if (!l->tokens)
		return NULL;
	l->sessions = sessions_new();
	l->verified = verified_new();
	l->by_address = penalty_new(&address_limit);
	l->by_user = penalty_new(&user_limit);
	l->workers = workers_new(&hash_limits);
	if (l->workers)
		return take(l);
	snprintf(fault->text, sizeof(fault->text), "threads cannot be started");
	return NULL;
}

struct login *login_free(struct login *l)
{
	if (!l)
		return NULL;
	workers_free(l->workers);
	users_free(l->users);
	tokens_free(l->tokens);
	sessions_free(l->sessions);
	verified_free(l->verified);
	penalty_free(l->by_address);
	penalty_free(l->by_user);
	free(l);
	return NULL;
}

int login_fd(const struct login *l)
{
	return workers_fd(l->workers);
}

void login_run(struct login *l)
{
	workers_reap(l->workers);
}

size_t login_pending(const struct login *l)
{
	return workers_count(l->workers);
}

/* ---- users that changed -------------------------------------------------------------------- */

static void run_write(struct work *w)
{
	struct login *l = (struct login *)((char *)w - offsetof(struct login, writing));

	l->written = tokens_write(l->tokens);
}

static void report_unwritten(int error)
{
	log_error("tokens of users that are gone stay in the file of tokens, which is not written: "
		  "%s",
		  strerror(-error));
}

static void start_write(struct login *l);

static void on_written(struct work *w)
{
	struct login *l = (struct login *)((char *)w - offsetof(struct login, writing));

	if (l->written < 0)
		report_unwritten(l->written);
	l->is_writing = false;
	if (l->write_again)
		start_write(l);
}

static void start_write(struct login *l)
{
	int r;

	l->write_again = l->is_writing;
	if (l->is_writing)
		return;
	l->writing = (struct work){ .owner = "tokens", .run = run_write, .done = on_written };
	r = workers_add(l->workers, &l->writing);
	l->is_writing = r == 0;
	if (r < 0)
		report_unwritten(r);
}

void login_drop_strangers(struct login *l)
{
	size_t n = tokens_drop_strangers(l->tokens, l->users);
	int r = n ? tokens_write(l->tokens) : 0;

	if (n)
		log_info("tokens of users that are gone, dropped: %zu", n);
	if (r < 0)
		report_unwritten(r);
}

static void end_sessions(struct login *l, const struct users *users)
{
	const struct user *user;

	for (size_t i = 0; (user = users_at(l->users, i)); i++)
		if (!users_agree(l->users, users, user->name))
			sessions_end_user(l->sessions, user->name);
}

int login_reload(struct login *l, const char *users_file, struct fault *fault)
{
	struct users *users = users_load(users_file, fault);
	size_t n;

	assert(l);
	if (!users)
		return -1;
	end_sessions(l, users);
	users_free(l->users);
	l->users = users;
	l->round++;
	verified_drop_all(l->verified);
	n = tokens_drop_strangers(l->tokens, users);
	if (n) {
		log_info("tokens of users that are gone, dropped: %zu", n);
		start_write(l);
	}
	return 0;
}

size_t login_count_users(const struct login *l)
{
	return users_count(l->users);
}

struct sessions *login_sessions(struct login *l)
{
	return l->sessions;
}

struct tokens *login_tokens(struct login *l)
{
	return l->tokens;
}

static enum login_verdict pass(struct login_check *c, const struct user *user)
{
	if (!user)
		return LOGIN_REFUSED;
	memcpy(c->user, user->name, strlen(user->name) + 1);
	c->right = user->right;
	return LOGIN_OK;
}

/* ---- passwords ----------------------------------------------------------------------------- */

static void run_check(struct work *w)
{
	struct login_check *c = (struct login_check *)w;

	c->fits = password_fits(c->given.password, c->hash);
}

static enum login_verdict judge(struct login *l, struct login_check *c)
{
	if (!c->fits || !c->known) {
		penalty_failed(l->by_address, c->address, c->now);
		penalty_failed(l->by_user, c->given.user, c->now);
		return LOGIN_REFUSED;
	}
	/* The file was read again meanwhile: the hash may no longer be that of the user. */
	if (c->round != l->round)
		return LOGIN_BUSY;
	penalty_passed(l->by_address, c->address);
	penalty_passed(l->by_user, c->given.user);
	verified_add(l->verified, c->given.user, c->given.password, c->now);
	return pass(c, users_find(l->users, c->given.user));
}

static void on_done(struct work *w)
{
	struct login_check *c = (struct login_check *)w;
	enum login_verdict verdict = judge(c->login, c);

	explicit_bzero(c->given.password, sizeof(c->given.password));
	free(c->hash);
	c->hash = NULL;
	c->on_checked(c, verdict);
}

static enum login_verdict start_check(struct login *l, struct login_check *c,
				      const struct user *user)
{
	c->known = user && user->hash;
	c->hash = xstrdup(c->known ? user->hash : users_dummy_hash(l->users));
	c->round = l->round;
	c->login = l;
	c->work = (struct work){ .owner = c->address, .run = run_check, .done = on_done };
	if (workers_add(l->workers, &c->work) == 0)
		return LOGIN_PENDING;
	free(c->hash);
	c->hash = NULL;
	return LOGIN_BUSY;
}

enum login_verdict login_by_password(struct login *l, struct login_check *c, mono_t now)
{
	const struct user *user;

	assert(l && c && c->on_checked && *c->address);
	user = users_find(l->users, c->given.user);
	if (user && user->hash &&
	    verified_has(l->verified, c->given.user, c->given.password, now))
		return pass(c, user);
	c->now = now;
	if (verified_had(l->verified, c->given.user, c->given.password, now))
		return start_check(l, c, user);
	c->wait = MAX(penalty_wait(l->by_address, c->address, now),
		      penalty_wait(l->by_user, c->given.user, now));
	return c->wait ? LOGIN_LATER : start_check(l, c, user);
}

/* ---- others -------------------------------------------------------------------------------- */

enum login_verdict login_by_token(struct login *l, struct login_check *c, const char *token,
				  int64_t now)
{
	char user[USER_NAME_MAX + 1];

	assert(l && c && token);
	if (!tokens_user(l->tokens, token, now, user))
		return LOGIN_REFUSED;
	return pass(c, users_find(l->users, user));
}

enum login_verdict login_by_session(struct login *l, struct login_check *c, const char *cookie,
				    mono_t now)
{
	const char *user;

	assert(l && c && cookie);
	user = sessions_use(l->sessions, cookie, now);
	return user ? pass(c, users_find(l->users, user)) : LOGIN_REFUSED;
}

enum login_verdict login_by_san(struct login *l, struct login_check *c, const char *san)
{
	assert(l && c && san);
	return pass(c, users_by_san(l->users, san));
}
