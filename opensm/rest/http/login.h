// SPDX-License-Identifier: BSD-2-Clause
/*
 * From credentials to a user and a right. Owns users, tokens, sessions, what is known of passwords,
 * and the threads that compute crypt(3). Main thread only.
 */
#pragma once

#include "rest/auth/sessions.h"
#include "rest/auth/tokens.h"
#include "rest/auth/users.h"
#include "rest/http/request.h"
#include "rest/http/workers.h"
#include "util/mono.h"

struct login;

enum login_verdict {
	LOGIN_OK,
	LOGIN_REFUSED, /* 401 */
	LOGIN_LATER,   /* 429: too many failures; `wait` says how long */
	LOGIN_BUSY,    /* 503: too many passwords are being checked */
	LOGIN_PENDING, /* the password is being checked: on_checked() is called */
};

/*
 * State of the login check of one request; zero at first. It lives until the answer, and during
 * LOGIN_PENDING.
 */
struct login_check {
	struct work work;
	struct password_login given;
	char *hash;
	char address[64]; /* address by which failures are counted */
	unsigned round;	  /* of the users that `hash` comes from */
	bool known, fits;
	mono_t now;
	struct login *login;
	void (*on_checked)(struct login_check *c, enum login_verdict verdict);

	/* The result of LOGIN_OK. */
	char user[USER_NAME_MAX + 1];
	enum rest_right right;
	mono_t wait;
};

/* `state_dir` "": tokens are in memory only. NULL and a fault. */
struct login *login_new(const char *users_file, const char *state_dir, struct fault *fault);
struct login *login_free(struct login *l); /* NULL is fine; returns NULL; waits for threads */
FREEP(login_free, struct login)
/* Readable when passwords were checked; then login_run(). */
int login_fd(const struct login *l);
void login_run(struct login *l);
size_t login_pending(const struct login *l);

/*
 * Drops tokens of users that are gone and writes their file; a fault of that is logged, and they
 * count for nothing all the same. Waits for the disk: for the start.
 */
void login_drop_strangers(struct login *l);
/*
 * Reads the file of users again; on a fault the old ones stay. Forgets what was verified, ends the
 * sessions of users that are gone or have another password or right, and drops tokens of users that
 * are gone.
 */
int login_reload(struct login *l, const char *users_file, struct fault *fault);
size_t login_count_users(const struct login *l);

/* A password: c->given and c->address are set. */
enum login_verdict login_by_password(struct login *l, struct login_check *c, mono_t now);
/* `now` is of the wall clock, in seconds since 1970. */
enum login_verdict login_by_token(struct login *l, struct login_check *c, const char *token,
				  int64_t now);
enum login_verdict login_by_session(struct login *l, struct login_check *c, const char *cookie,
				    mono_t now);
/* A name of a certificate that was verified. */
enum login_verdict login_by_san(struct login *l, struct login_check *c, const char *san);

struct sessions *login_sessions(struct login *l);
struct tokens *login_tokens(struct login *l);
