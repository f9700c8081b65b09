// SPDX-License-Identifier: BSD-2-Clause
/* Decoding works in a copy, where a text never becomes longer. */
#include "rest/http/request.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "rest/auth/secret.h"
#include "util/mem.h"
#include "util/str.h"

/* ---- escapes ------------------------------------------------------------------------------- */

static int hex_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The byte of the escape at `text`, or -EINVAL. */
static int escaped_byte(const char *text)
{
	int high = hex_of(text[1]), low = high < 0 ? -1 : hex_of(text[2]);

	return low < 0 ? -EINVAL : high << 4 | low;
}

/* In place. No control character may come of it, and no byte of `never`. */
static int decode(char *text, bool plus, const char *never)
{
	char *to = text;

	for (; *text; text++) {
		int byte = (unsigned char)*text;

		if (byte == '%') {
			byte = escaped_byte(text);
			if (byte < 0 || (byte && strchr(never, byte)))
				return -EINVAL;
			text += 2;
		} else if (byte == '+' && plus) {
			byte = ' ';
		}
		if (byte < ' ' || byte == 0x7f)
			return -EINVAL;
		*to++ = (char)byte;
	}
	*to = '\0';
	return 0;
}

int pairs_parse(char *text, struct rest_pair *ret, size_t cap)
{
	size_t n = 0;
	char *next;

	assert(text && ret);
	for (; text; text = next) {
		char *value;

		next = strchr(text, '&');
		if (next)
			*next++ = '\0';
		if (!*text)
			continue;
		value = strchr(text, '=');
		if (value)
			*value++ = '\0';
		else
			value = text + strlen(text);
		if (n == cap || decode(text, true, "") < 0 || decode(value, true, "") < 0)
			return -EINVAL;
		ret[n++] = (struct rest_pair){ text, value };
	}
	return (int)n;
}

/* ---- target -------------------------------------------------------------------------------- */

const struct rest_prefix rest_prefixes[] = {
	{ "/ufmRest", ENTRY_BASIC },
	{ "/ufmRestV2", ENTRY_SESSION },
	{ "/ufmRestV3", ENTRY_TOKEN },
	{ 0 },
};

static void drop_slashes(char *path)
{
	char *to = path;

	for (const char *from = path; *from; from++)
		if (*from != '/' || to == path || to[-1] != '/')
			*to++ = *from;
	while (to > path + 1 && to[-1] == '/')
		to--;
	*to = '\0';
}

/* Paths without a prefix: logins, and the files of the page. */
static bool is_bare(const char *path)
{
	static const char *const paths[] = { "/dologin", "/logout", PAGE_PATHS };

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		if (!strcmp(paths[i], path))
			return true;
	return false;
}

static int find_entry(struct target *t, const char *path)
{
	for (const struct rest_prefix *p = rest_prefixes; p->prefix; p++) {
		size_t len = strlen(p->prefix);

		if (strncmp(path, p->prefix, len) || (path[len] && path[len] != '/'))
			continue;
		t->prefix = p->prefix;
		t->entry = p->entry;
		t->path = path[len] ? path + len : "/";
		return 0;
	}
	if (!is_bare(path))
		return -ENOENT;
	t->entry = ENTRY_NONE;
	t->prefix = "";
	t->path = path;
	return 0;
}

static int parse_copy(struct target *t, char *text)
{
	char *query = strchr(text, '?');
	int n = 0;

	if (query)
		*query++ = '\0';
	if (text[0] != '/' || decode(text, false, "/") < 0)
		return -EINVAL;
	if (query)
		n = pairs_parse(query, t->query, REST_QUERY_MAX);
	if (n < 0)
		return n;
	t->n_query = (size_t)n;
	drop_slashes(text);
	return find_entry(t, text);
}

/* RFC 3986, 2: such bytes are written as escapes. */
static bool has_blanks(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text <= ' ' || *text == 0x7f)
			return true;
	return false;
}

int target_parse(const char *text, struct target *ret)
{
	struct target t = { 0 };
	int r;

	assert(text && ret);
	if (strlen(text) > TARGET_MAX || has_blanks(text))
		return -EINVAL;
	t.memory = xstrdup(text);
	r = parse_copy(&t, t.memory);
	if (r < 0) {
		free(t.memory);
		return r;
	}
	*ret = t;
	return 0;
}

void target_clear(struct target *t)
{
	free(t->memory);
	*t = (struct target){ 0 };
}

/* ---- bodies -------------------------------------------------------------------------------- */

/* The index of the closing quote of the string that begins at `i`, or `len`. */
static size_t skip_string(const char *text, size_t i, size_t len)
{
	for (i++; i < len && text[i] != '"'; i++)
		if (text[i] == '\\')
			i++;
	return i;
}

bool json_is_modest(const char *text, size_t len)
{
	size_t values = 1, groups = 0;

	assert(text || !len);
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '"')
			i = skip_string(text, i, len);
		else if (text[i] == ',')
			values++;
		else if (text[i] == '{' || text[i] == '[')
			groups++;
	}
	return values + groups <= JSON_VALUES_MAX && groups <= JSON_GROUPS_MAX;
}

/* ---- logins -------------------------------------------------------------------------------- */

static int set_login(struct password_login *ret, const char *user, const char *password)
{
	if (!user_name_is_valid(user) || strlen(password) > PASSWORD_MAX)
		return -EINVAL;
	memcpy(ret->user, user, strlen(user) + 1);
	memcpy(ret->password, password, strlen(password) + 1);
	return 0;
}

static const char *behind_basic(const char *header)
{
	if (!header || strncasecmp(header, "Basic", 5) || header[5] != ' ')
		return NULL;
	return header + 5 + strspn(header + 5, " ");
}

int login_from_basic(const char *header, struct password_login *ret)
{
	char text[USER_NAME_MAX + PASSWORD_MAX + 2];
	const char *coded = behind_basic(header);
	char *colon;
	int len, r = -EINVAL;

	assert(ret);
	len = coded ? secret_from_base64(coded, (uint8_t *)text, sizeof(text) - 1) : -EINVAL;
	if (len < 0 || memchr(text, '\0', (size_t)len))
		return -EINVAL;
	text[len] = '\0';
	colon = strchr(text, ':');
	if (colon) {
		*colon = '\0';
		r = set_login(ret, text, colon + 1);
	}
	explicit_bzero(text, sizeof(text));
	return r;
}

static const char *value_of(const struct rest_pair *pairs, int n, const char *name)
{
	for (int i = 0; i < n; i++)
		if (!strcmp(pairs[i].name, name))
			return pairs[i].value;
	return NULL;
}

#define FORM_MEMBER(name, kind, text) const char *name;
#define FORM_READ(name, kind, text)   form.name = value_of(pairs, n, #name);

int login_from_form(const char *body, size_t len, struct password_login *ret)
{
	struct rest_pair pairs[REST_QUERY_MAX];
	struct {
		LOGIN_FORM(FORM_MEMBER)
	} form;
	char text[4096];
	int n, r = -EINVAL;

	assert((body || !len) && ret);
	if (len >= sizeof(text) || memchr(body ? body : "", '\0', len))
		return -EINVAL;
	if (len)
		memcpy(text, body, len);
	text[len] = '\0';
	n = pairs_parse(text, pairs, REST_QUERY_MAX);
	LOGIN_FORM(FORM_READ)
	if (form.httpd_username && form.httpd_password)
		r = set_login(ret, form.httpd_username, form.httpd_password);
	explicit_bzero(text, sizeof(text));
	return r;
}

const char *token_from_header(const char *header)
{
	const char *token = behind_basic(header);

	return token && *token ? token : NULL;
}

bool session_from_cookie(const char *header, char *ret, size_t cap)
{
	static const char name[] = SESSION_COOKIE "=";

	assert(ret && cap);
	while (header && *header) {
		size_t len = strcspn(header, ";"), skip = sizeof(name) - 1;

		if (len >= skip && !strncmp(header, name, skip)) {
			if (len - skip >= cap)
				return false;
			memcpy(ret, header + skip, len - skip);
			ret[len - skip] = '\0';
			return true;
		}
		header += len + (header[len] == ';');
		header += strspn(header, " ");
	}
	return false;
}
