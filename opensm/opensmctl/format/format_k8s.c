// SPDX-License-Identifier: BSD-2-Clause
/*
 * Labels of Kubernetes nodes: the leaf that a host is on, the switches above it, and with several
 * ports the leaf of each.
 *
 * The form is that of kubectl label, a command for each host: a host that is no node of the cluster
 * fails alone, whereas kubectl apply would create a node for it.
 */
#include "opensmctl/format/format.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "opensmctl/format/hostlist.h"
#include "opensmctl/format/slurm_hosts.h"
#include "opensmctl/format/slurm_tree.h"
#include "util/hash.h"
#include "util/mem.h"

#define PREFIX_MAX 253 /* bytes of a DNS subdomain, also of the name of a node */
#define LABEL_MAX  63  /* bytes of a part of it, of the name of a label, and of a value */
#define HASH_BYTES 9   /* "-" and eight digits */

/* Levels of switches from the leaf up; NVIDIA's topograph calls the second one spine. */
#define LEVELS 3
static const struct {
	const char *domain; /* the end of a prefix; "": any other */
	const char *level[LEVELS];
} vocabularies[] = {
	{ "nvidia.com", { "leaf", "spine", "core" } },
	{ "", { "leaf", "pod", "core" } },
};

/* ---- what is legal -------------------------------------------------------------------------- */

static bool is_dns_char(char c)
{
	return islower((unsigned char)c) || isdigit((unsigned char)c);
}

static bool is_dns_label(const char *text, size_t len)
{
	if (!len || len > LABEL_MAX || !is_dns_char(text[0]) || !is_dns_char(text[len - 1]))
		return false;
	for (size_t i = 0; i < len; i++)
		if (!is_dns_char(text[i]) && text[i] != '-')
			return false;
	return true;
}

bool format_k8s_prefix_is_legal(const char *prefix)
{
	size_t len = strlen(prefix);

	if (len > PREFIX_MAX)
		return false;
	for (const char *at = prefix;; at += len + 1) {
		len = strcspn(at, ".");
		if (!is_dns_label(at, len))
			return false;
		if (!at[len])
			return true;
	}
}

/*
 * A value, or the name of a label: at most `most` bytes of letters, digits, '.', '_', '-', with a
 * letter or digit at both ends. Where that changes the text, a number made of all of it follows, so
 * that different texts stay different. To be freed.
 */
static char *legal_part(const char *text, size_t most)
{
	_cleanup_free_ char *copy = xstrdup(text);
	char *from = copy, *ret;
	size_t len;

	for (char *c = copy; *c; c++)
		if (!isalnum((unsigned char)*c) && *c != '.' && *c != '_')
			*c = '-';
	while (*from && !isalnum((unsigned char)*from))
		from++;
	len = strlen(from);
	while (len && !isalnum((unsigned char)from[len - 1]))
		len--;
	if (!strncmp(from, text, len) && !text[len] && len && len <= most)
		return xstrdup(text);
	len = MIN(len, most - HASH_BYTES);
	ret = xasprintf("%.*s-%08" PRIx32, (int)len, len ? from : "",
			hash_fold(hash_bytes(HASH_START, text, strlen(text))));
	if (!len)
		memmove(ret, ret + 1, strlen(ret));
	return ret;
}

/* ---- hosts ---------------------------------------------------------------------------------- */

/* By host, in the order of the tree: its leaf. To be freed. */
static uint32_t *leaves_of_hosts(const struct slurm_tree *t)
{
	uint32_t *ret = xcalloc(t->n_hosts + 1, sizeof(*ret));

	for (uint32_t i = 0; i < t->n_leaves; i++)
		for (size_t k = 0; k < t->switches[i].n_hosts; k++)
			ret[(size_t)(t->switches[i].hosts - t->hosts) + k] = i;
	return ret;
}

static const char *const *levels_of(const char *prefix)
{
	size_t len = strlen(prefix), i;

	for (i = 0; i + 1 < ARRAY_SIZE(vocabularies); i++) {
		size_t end = strlen(vocabularies[i].domain);

		if (len >= end && !strcmp(prefix + len - end, vocabularies[i].domain))
			break;
	}
	return vocabularies[i].level;
}

/* Prints a label "rail.SLOT" for each slot: "rail.mlx5_1-1". A host with one slot has no rails. */
static void print_rails(const struct slurm_tree *t, const struct slurm_host *host,
			const char *prefix, FILE *out)
{
	const struct slurm_port *ports = &t->found->ports[host->first];
	bool has_rails = strcmp(ports[0].slot, ports[host->n - 1].slot) != 0;

	for (size_t i = 0; has_rails && i < host->n; i++) {
		_cleanup_free_ char *slot = xstrdup(ports[i].slot), *name = NULL,
				    *leaf = legal_part(t->leaf_names[ports[i].leaf], LABEL_MAX);

		if (i && !strcmp(ports[i - 1].slot, ports[i].slot))
			continue;
		for (char *c = slot; *c; c++)
			if (*c == '/')
				*c = '-';
		name = legal_part(slot, LABEL_MAX - strlen("rail."));
		fprintf(out, " %s/rail.%s=%s", prefix, name, leaf);
	}
}

static void print_host(const struct slurm_tree *t, size_t host, uint32_t leaf,
		       const uint32_t *parents, const char *prefix, FILE *out)
{
	const char *const *levels = levels_of(prefix);
	_cleanup_free_ char *name = xstrdup(t->hosts[host]);

	for (char *c = name; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	fprintf(out, "kubectl label --overwrite node %s", name);
	for (unsigned i = 0; i < LEVELS && leaf != NO_PARENT; i++, leaf = parents[leaf]) {
		_cleanup_free_ char *value = legal_part(t->switches[leaf].name, LABEL_MAX);

		fprintf(out, " %s/%s=%s", prefix, levels[i], value);
	}
	print_rails(t, &t->found->all[host], prefix, out);
	fputc('\n', out);
}

/* Kubelet makes the name of a node of that of the host, in small letters. */
static bool can_be_node(const char *name)
{
	_cleanup_free_ char *small = xstrdup(name);

	for (char *c = small; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	return format_k8s_prefix_is_legal(small);
}

static int by_small_letters(const void *x, const void *y)
{
	return strcasecmp(*(const char *const *)x, *(const char *const *)y);
}

/* Hosts that differ only in capital letters; sorted here. Returns how many `ret` has. */
static size_t find_alike(const struct slurm_tree *t, const char **ret)
{
	_cleanup_free_ const char **names = xcalloc(t->n_hosts + 1, sizeof(char *));
	size_t n = 0;

	for (size_t i = 0; i < t->n_hosts; i++)
		names[i] = t->hosts[i];
	if (t->n_hosts)
		qsort(names, t->n_hosts, sizeof(*names), by_small_letters);
	for (size_t i = 1; i < t->n_hosts; i++)
		if (!strcasecmp(names[i - 1], names[i])) {
			if (!n || strcasecmp(ret[n - 1], names[i]) != 0)
				ret[n++] = names[i - 1];
			ret[n++] = names[i];
		}
	return n;
}

static bool is_alike(const char *const *alike, size_t n, const char *name)
{
	return n && bsearch(&name, alike, n, sizeof(*alike), by_small_letters);
}

void format_k8s(struct slurm_tree *t, const char *prefix, FILE *out)
{
	_cleanup_free_ uint32_t *parents = slurm_parents(t), *leaves = leaves_of_hosts(t);
	_cleanup_free_ const char **alike = xcalloc(2 * t->n_hosts + 1, sizeof(char *));
	size_t n = find_alike(t, alike);

	fprintf(out,
		"# The fabric as opensm sees it: %zu hosts on %zu leaves. These are commands for a "
		"shell.\n",
		t->n_hosts, t->n_leaves);
	for (size_t i = 0; i < t->n_remarks; i++)
		fprintf(out, "# %s\n", t->remarks[i]);
	for (size_t i = 0; i < t->n_hosts; i++) {
		if (can_be_node(t->hosts[i]) && !is_alike(alike, n, t->hosts[i])) {
			print_host(t, i, leaves[i], parents, prefix, out);
			continue;
		}
		t->n_left_out++;
		fprintf(out, "# host %s: Kubernetes has no node of %s\n", t->hosts[i],
			can_be_node(t->hosts[i]) ? "this name alone" : "such a name");
	}
}
