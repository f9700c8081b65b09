// SPDX-License-Identifier: BSD-2-Clause
/* A password is read without echo from a terminal, twice; else the first line of stdin is it. */
#include "rest/setup/add_user.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "rest/auth/password.h"
#include "rest/setup/conf.h"

#define EXIT_USAGE 64
#define EXIT_CONF  78

static bool read_line(char *ret, size_t cap)
{
	size_t len;

	if (!fgets(ret, (int)cap, stdin))
		return false;
	len = strcspn(ret, "\r\n");
	if (!ret[len] && len == cap - 1)
		return false;
	ret[len] = '\0';
	return len > 0;
}

static bool ask_once(const char *prompt, char *ret, size_t cap)
{
	struct termios old, quiet;
	bool terminal = tcgetattr(STDIN_FILENO, &old) == 0, is_read;

	if (!terminal)
		return read_line(ret, cap);
	quiet = old;
	quiet.c_lflag &= ~(tcflag_t)ECHO;
	fprintf(stderr, "%s: ", prompt);
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet);
	is_read = read_line(ret, cap);
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &old);
	fputc('\n', stderr);
	return is_read;
}

static bool ask_password(char ret[PASSWORD_MAX + 2])
{
	char again[PASSWORD_MAX + 2];
	bool same;

	if (!ask_once("Password", ret, PASSWORD_MAX + 2))
		return false;
	if (!isatty(STDIN_FILENO))
		return true;
	same = ask_once("Again", again, sizeof(again)) && !strcmp(ret, again);
	explicit_bzero(again, sizeof(again));
	return same;
}

static char *ask_hash(void)
{
	char password[PASSWORD_MAX + 2];
	char *hash = NULL;

	if (ask_password(password))
		hash = password_new_hash(password);
	else
		fprintf(stderr, "opensm-rest: a password of 1 to %d bytes is expected, twice the "
				"same at a terminal\n",
			PASSWORD_MAX);
	explicit_bzero(password, sizeof(password));
	return hash;
}

static int store(const struct add_user *add, const char *hash, enum rest_right right,
		 const char *conf_path)
{
	_cleanup_(rest_conf_freep) struct rest_conf *conf = NULL;
	struct user user = { .right = right, .n_sans = add->n_sans };
	struct fault fault;

	user.name = as_owner(add->name);
	user.hash = as_owner(hash);
	for (size_t i = 0; i < add->n_sans; i++)
		user.sans[i] = as_owner(add->sans[i]);
	conf = rest_conf_load(conf_path, &fault);
	if (conf && users_add(conf->users, &user, &fault) == 0) {
		printf("%s: user %s with the right %s; systemctl restart opensm-rest\n",
		       conf->users, user.name, right_name(right));
		return EXIT_SUCCESS;
	}
	fprintf(stderr, "%s\n", fault.text);
	return EXIT_CONF;
}

int add_user(const struct add_user *add, const char *conf_path)
{
	_cleanup_free_ char *hash = NULL;
	enum rest_right right;

	assert(add && add->name && add->right && conf_path);
	if (!user_name_is_valid(add->name) || !right_from_name(add->right, &right)) {
		fprintf(stderr, "opensm-rest: a name of letters, digits and . _ @ -, and the right "
				"read, tenant or admin are expected\n");
		return EXIT_USAGE;
	}
	if (!add->no_password) {
		hash = ask_hash();
		if (!hash)
			return EXIT_USAGE;
	}
	return store(add, hash, right, conf_path);
}
