// SPDX-License-Identifier: BSD-2-Clause
/* A table of keys; what contradicts itself is found at the end. */
#include "rest/setup/conf.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "ini/ini.h"
#include "util/file.h"
#include "util/str.h"

#define RUN_DIR	    "/run/opensm"
#define CONNECTIONS 512
#define PER_ADDRESS 64

enum kind { TEXT, FILE_NAME, PATH, NUMBER, FLAG, LISTEN, LISTEN_HTTP, INSTANCE };

#define AT(member) offsetof(struct rest_conf, member)
static const struct key {
	const char *name;
	enum kind kind;
	size_t at;
	unsigned min, max;
} keys[] = {
	{ "listen", LISTEN, 0, 0, 0 },
	{ "listen_http", LISTEN_HTTP, 0, 0, 0 },
	{ "plain_http", FLAG, AT(plain_http), 0, 0 },
	{ "certificate", FILE_NAME, AT(certificate), 0, 0 },
	{ "key", FILE_NAME, AT(key), 0, 0 },
	{ "client_ca", FILE_NAME, AT(client_ca), 0, 0 },
	{ "users", FILE_NAME, AT(users), 0, 0 },
	{ "instance", INSTANCE, AT(control_socket), 0, 0 },
	{ "control_socket", PATH, AT(control_socket), 0, 0 },
	{ "state_dir", PATH, AT(state_dir), 0, 0 },
	{ "release", TEXT, AT(release), 0, 0 },
	{ "site", TEXT, AT(site), 0, 0 },
	{ "known_only", FLAG, AT(known_only), 0, 0 },
	{ "max_connections", NUMBER, AT(max_connections), 16, 4096 },
	{ "max_connections_per_address", NUMBER, AT(max_connections_per_address), 1, 4096 },
};

struct reader {
	const char *file;
	const struct ini_item *item; /* the line that is being read */
	struct rest_conf *conf;
	struct fault *fault;
	bool seen[ARRAY_SIZE(keys)];
};

/* -EINVAL, with the place of the value. */
__attribute__((format(printf, 2, 3))) static int fault_of(struct reader *r, const char *fmt, ...)
{
	char what[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	snprintf(r->fault->text, sizeof(r->fault->text), "%.120s:%u:%u: ", r->file, r->item->line,
		 r->item->column);
	str_printable(what, strlen(what), r->fault->text + strlen(r->fault->text), sizeof(what));
	return -EINVAL;
}

/* ---- values -------------------------------------------------------------------------------- */

static int set_text(struct reader *r, const struct key *key, const char *value)
{
	char **at = (char **)((char *)r->conf + key->at);

	if (key->kind == PATH && value[0] != '/')
		return fault_of(r, "%s: an absolute path is expected", key->name);
	free(*at);
	*at = xstrdup(value);
	return 0;
}

static int set_instance(struct reader *r, const struct key *key, const char *value)
{
	char **at = (char **)((char *)r->conf + key->at);

	if (strchr(value, '/') || value[0] == '.' || strlen(value) > 64)
		return fault_of(r, "%s: the name of an instance is expected", key->name);
	free(*at);
	*at = xasprintf(RUN_DIR "/%s.sock", value);
	return 0;
}

static int set_number(struct reader *r, const struct key *key, const char *value)
{
	unsigned *at = (unsigned *)(void *)((char *)r->conf + key->at);
	uint64_t number;

	if (str_to_u64(value, 10, key->max, &number) < 0 || number < key->min)
		return fault_of(r, "%s: found '%s', expected a number from %u to %u", key->name,
				value, key->min, key->max);
	*at = (unsigned)number;
	return 0;
}

static int set_flag(struct reader *r, const struct key *key, const char *value)
{
	bool *at = (bool *)((char *)r->conf + key->at);

	if (strcmp(value, "yes") && strcmp(value, "no"))
		return fault_of(r, "%s: found '%s', expected yes or no", key->name, value);
	*at = value[0] == 'y';
	return 0;
}

/* "HOST:PORT" or "[HOST]:PORT", numeric. */
static bool split_address(const char *value, struct rest_listen *ret)
{
	const char *colon = strrchr(value, ':');
	size_t len = colon ? (size_t)(colon - value) : 0;
	struct in6_addr any;
	uint64_t port;

	if (!len || str_to_u64(colon + 1, 10, 65535, &port) < 0)
		return false;
	if (value[0] == '[' && colon[-1] == ']') {
		value++;
		len -= 2;
	}
	if (len >= sizeof(ret->host))
		return false;
	memcpy(ret->host, value, len);
	ret->host[len] = '\0';
	ret->port = (uint16_t)port;
	return inet_pton(strchr(ret->host, ':') ? AF_INET6 : AF_INET, ret->host, &any) == 1;
}

static int add_address(struct reader *r, const struct key *key, const char *value)
{
	struct rest_listen listen = { .tls = key->kind == LISTEN };

	if (r->conf->n_listen == CONF_LISTEN_MAX)
		return fault_of(r, "at most %d addresses are served", CONF_LISTEN_MAX);
	if (!split_address(value, &listen))
		return fault_of(r,
				"%s: found '%s', expected ADDRESS:PORT or [ADDRESS]:PORT with a "
				"numeric address",
				key->name, value);
	r->conf->listen[r->conf->n_listen++] = listen;
	return 0;
}

/* A list of addresses, separated by blanks or commas. */
static int add_addresses(struct reader *r, const struct key *key, const char *value)
{
	_cleanup_free_ char *copy = xstrdup(value);
	char *rest = copy, *word;
	int result = 0;

	while (result == 0 && (word = strsep(&rest, " \t,")))
		result = *word ? add_address(r, key, word) : 0;
	return result;
}

static int set_value(struct reader *r, const struct key *key, const char *value)
{
	switch (key->kind) {
	case TEXT:
	case FILE_NAME:
	case PATH:
		return set_text(r, key, value);
	case INSTANCE:
		return set_instance(r, key, value);
	case NUMBER:
		return set_number(r, key, value);
	case FLAG:
		return set_flag(r, key, value);
	case LISTEN:
	case LISTEN_HTTP:
		return add_addresses(r, key, value);
	}
	return -EINVAL;
}

/* ---- items --------------------------------------------------------------------------------- */

static int unknown_key(struct reader *r)
{
	const char *words[ARRAY_SIZE(keys)], *near;

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		words[i] = keys[i].name;
	near = str_nearest(r->item->name, words, ARRAY_SIZE(keys));
	return fault_of(r, "there is no key '%s'%s%s%s", r->item->name, near ? "; '" : "",
			near ? near : "", near ? "' is near" : "");
}

static int read_item(struct reader *r)
{
	_cleanup_free_ char *fault = r->item->value ? NULL : ini_fault(r->item);
	const char *name = r->item->name, *value = r->item->value;
	size_t i;

	if (fault)
		return fault_of(r, "%s", fault);
	for (i = 0; i < ARRAY_SIZE(keys) && strcmp(keys[i].name, name); i++)
		;
	if (i == ARRAY_SIZE(keys))
		return unknown_key(r);
	if (r->seen[i])
		return fault_of(r, "%s is set twice", name);
	if (!*value)
		return fault_of(r, "%s: a value is expected", name);
	r->seen[i] = true;
	return set_value(r, &keys[i], value);
}

/* ---- the whole ----------------------------------------------------------------------------- */

static bool is_loopback(const struct rest_listen *l)
{
	return !strcmp(l->host, "::1") || str_starts(l->host, "127.");
}

static int check_conf(const char *file, const struct rest_conf *c, struct fault *fault)
{
	const char *what = NULL;

	for (unsigned i = 0; i < c->n_listen; i++) {
		if (c->listen[i].tls && (!c->certificate || !c->key))
			what = "listen is for HTTPS, which needs certificate and key";
		if (!c->listen[i].tls && !is_loopback(&c->listen[i]) && !c->plain_http)
			what = "listen_http of an address that is not loopback sends passwords in "
			       "the clear; plain_http = yes allows it";
	}
	if (!c->n_listen)
		what = "neither listen nor listen_http names an address";
	if (c->max_connections_per_address > c->max_connections)
		what = "max_connections_per_address is greater than max_connections";
	if (!what)
		return 0;
	snprintf(fault->text, sizeof(fault->text), "%.120s: %s", file, what);
	return -EINVAL;
}

static struct rest_conf *default_conf(void)
{
	struct rest_conf *c = xcalloc(1, sizeof(*c));

	c->users = xstrdup("opensm-rest.users");
	c->state_dir = xstrdup("");
	c->release = xstrdup("6.19.0-5");
	c->site = xstrdup("");
	c->max_connections = CONNECTIONS;
	c->max_connections_per_address = PER_ADDRESS;
	return c;
}

static int read_items(struct reader *r, const struct ini *ini)
{
	for (size_t i = 0; i < ini->n; i++) {
		r->item = &ini->items[i];
		if (read_item(r) < 0)
			return -EINVAL;
	}
	return check_conf(r->file, r->conf, r->fault);
}

struct rest_conf *rest_conf_parse(const char *file, const char *text, size_t len,
				  struct fault *fault)
{
	_cleanup_(rest_conf_freep) struct rest_conf *c = default_conf();
	struct reader reader = { .file = file, .conf = c, .fault = fault };
	struct ini ini;
	int r;

	assert(file && fault);
	r = ini_read(text, len, INI_PLAIN, &ini);
	if (r < 0)
		snprintf(fault->text, sizeof(fault->text), "%.200s: %s", file,
			 ini_refusal(r));
	else
		r = read_items(&reader, &ini);
	ini_clear(&ini);
	return r < 0 ? NULL : take(c);
}

/* The unit gives an empty line where a file is missing, so that we start and say which. */
static bool is_credential(const char *path)
{
	struct stat st;

	return path && stat(path, &st) == 0 && st.st_size > 1;
}

/* A name without a folder: a credential of the service, or a file beside the configuration. */
static void find_file(const char *conf_path, char **name)
{
	const char *folder = getenv("CREDENTIALS_DIRECTORY"), *slash = strrchr(conf_path, '/');
	char *path = NULL;

	if (!*name || (*name)[0] == '/')
		return;
	if (folder && *folder)
		path = xasprintf("%s/%s", folder, *name);
	if (!is_credential(path)) {
		free(path);
		path = xasprintf("%.*s%s", slash ? (int)(slash - conf_path) + 1 : 0, conf_path,
				 *name);
	}
	free(*name);
	*name = path;
}

struct rest_conf *rest_conf_load(const char *path, struct fault *fault)
{
	_cleanup_free_ char *text = NULL;
	const char *state = getenv("STATE_DIRECTORY");
	struct rest_conf *c;
	size_t len;
	int r;

	assert(path && fault);
	r = file_read(path, CONF_FILE_MAX, &text, &len);
	if (r < 0) {
		snprintf(fault->text, sizeof(fault->text), "%.200s: %s", path, strerror(-r));
		return NULL;
	}
	c = rest_conf_parse(path, text, len, fault);
	if (!c)
		return NULL;
	find_file(path, &c->users);
	find_file(path, &c->certificate);
	find_file(path, &c->key);
	find_file(path, &c->client_ca);
	if (!*c->state_dir && state && *state) {
		free(c->state_dir);
		c->state_dir = xstrdup(state);
	}
	return c;
}

struct rest_conf *rest_conf_free(struct rest_conf *c)
{
	if (!c)
		return NULL;
	free(c->certificate);
	free(c->key);
	free(c->client_ca);
	free(c->users);
	free(c->control_socket);
	free(c->state_dir);
	free(c->release);
	free(c->site);
	free(c);
	return NULL;
}
