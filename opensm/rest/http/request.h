// SPDX-License-Identifier: BSD-2-Clause
/*
 * Text of a client taken apart: the request target, the Authorization and Cookie headers, a form.
 * Every input is hostile; every function is bounded by the length of its text.
 */
#pragma once

#include "rest/auth/password.h"
#include "rest/auth/users.h"
#include "rest/rest.h"

#define TARGET_MAX	8192 /* bytes of a request target */
#define PAGE_PATHS	"/", "/page.js", "/page.css" /* the page, for a browser */
#define JSON_VALUES_MAX 200000u /* three lists, of 55,000 GUIDs in a body of 1 MB */
#define JSON_GROUPS_MAX 64u

enum rest_entry {
	ENTRY_BASIC,   /* /ufmRest: password or certificate */
	ENTRY_SESSION, /* /ufmRestV2: cookie */
	ENTRY_TOKEN,   /* /ufmRestV3: token */
	ENTRY_NONE,    /* /dologin, /logout, and the files of the page */
};

/* What is in front of all paths, and says how users log in; ends with a row without a prefix. */
extern const struct rest_prefix {
	const char *prefix;
	enum rest_entry entry;
} rest_prefixes[];

struct target {
	char *memory; /* memory of all texts */
	enum rest_entry entry;
	const char *prefix, *path;
	struct rest_pair query[REST_QUERY_MAX];
	size_t n_query;
};

/*
 * Path and query of `text` ("/ufmRest/resources/pkeys/?guids_data=true"), decoded; slashes that
 * repeat or stand at the end are gone. 0; -ENOENT: it is below no prefix; -EINVAL: it is no target
 * (blanks, control characters, a bad escape, an escaped slash, too long, too many arguments).
 * On failure there is nothing to clear.
 */
int target_parse(const char *text, struct target *ret);
void target_clear(struct target *t);

/* Pairs of a query or a form; cuts up `text`. The number, or -EINVAL. */
int pairs_parse(char *text, struct rest_pair *ret, size_t cap);

struct password_login {
	char user[USER_NAME_MAX + 1];
	char password[PASSWORD_MAX + 1];
};
/* "Basic base64(USER:PASSWORD)": 0 or -EINVAL. */
int login_from_basic(const char *header, struct password_login *ret);
/* The fields of a login form. */
#define LOGIN_FORM(B)                                                                              \
	B(httpd_username, STR, "name of the user")                                                 \
	B(httpd_password, STR, "password of the user")
/* Reads a form of `len` bytes: 0 or -EINVAL. */
int login_from_form(const char *body, size_t len, struct password_login *ret);
/*
 * Whether a body may be parsed: at most JSON_VALUES_MAX values and JSON_GROUPS_MAX objects and
 * arrays, counted by bytes alone, before any memory is taken. It may still be no JSON.
 */
bool json_is_modest(const char *text, size_t len);

/* "Basic TOKEN": what stands behind the word, or NULL. */
const char *token_from_header(const char *header);
#define SESSION_COOKIE "session"
/* The value of session= in a Cookie header: false if there is none or it is too long. */
bool session_from_cookie(const char *header, char *ret, size_t cap);
