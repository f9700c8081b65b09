// SPDX-License-Identifier: BSD-2-Clause
#include "dump/dump_turns.h"

#include <assert.h>
#include <stdlib.h>

#include "view/view_copy.h"

struct dump_turns {
	struct dump_hooks hooks;
	struct dump_config wanted; /* last */
	char *dir;		   /* the folder in it */
	struct dump_config copied; /* configuration for `copy` */
	struct view_copy *copy;
	bool writing;
	bool again;
};

struct dump_turns *dump_turns_new(const struct dump_hooks *hooks)
{
	struct dump_turns *t = xcalloc(1, sizeof(*t));

	assert(hooks->submit && hooks->failed);
	t->hooks = *hooks;
	return t;
}

struct dump_turns *dump_turns_free(struct dump_turns *t)
{
	if (!t)
		return NULL;
	view_copy_free(t->copy);
	free(t->dir);
	free(t);
	return NULL;
}

static void begin_copy(struct dump_turns *t, const struct sm *sm)
{
	t->again = false;
	t->copied = t->wanted;
	t->copy = sm_view_copy(sm, sm_routes(sm), t->copied.routing ? VIEW_TREES : 0, NULL);
}

static void on_written(void *arg, const char *error)
{
	struct dump_turns *t = arg;

	t->writing = false;
	if (error)
		t->hooks.failed(t->hooks.arg, error);
}

static void write_view(struct dump_turns *t, struct view *v)
{
	t->copied.dir = t->dir;
	t->writing = true;
	t->hooks.submit(t->hooks.arg, dump_job_new(v, &t->copied, on_written, t));
}

void dump_turns_want(struct dump_turns *t, const struct sm *sm, const struct dump_config *c,
		     const struct view *present)
{
	assert(c->dir);
	free(t->dir);
	t->dir = xstrdup(c->dir);
	t->wanted = *c;
	t->again = t->copy || t->writing;
	if (t->again)
		return;
	if (!present) {
		begin_copy(t, sm);
		return;
	}
	t->copied = t->wanted;
	write_view(t, view_ref(present));
}

bool dump_turns_go_on(struct dump_turns *t, const struct sm *sm)
{
	struct view *v;

	if (t->again && !t->copy && !t->writing)
		begin_copy(t, sm);
	if (t->copy && view_copy_turn(&t->copy, &v))
		write_view(t, v);
	return t->copy;
}

bool dump_turns_pending(const struct dump_turns *t)
{
	return t->copy || t->writing || t->again;
}

void dump_turns_hurry(struct dump_turns *t)
{
	struct view *v;

	if (!t->copy)
		return;
	view_copy_some(t->copy, VIEW_COPY_ALL);
	if (view_copy_turn(&t->copy, &v))
		write_view(t, v);
}

void dump_turns_sm_gone(struct dump_turns *t)
{
	t->copy = view_copy_free(t->copy);
	t->again = false;
}
