// SPDX-License-Identifier: BSD-2-Clause
/* perfmgr, pm: there is no performance manager yet; its state is shown as that of one that is off. */
#include <string.h>

#include "ctl/console_private.h"
#include "util/str.h"

static void print_state(struct console *c)
{
	const struct conf *conf = c->config.scene->conf;

	fprintf(c->out,
		"Performance Manager status:\n"
		"state                        : Disabled\n"
		"sweep state                  : Sleeping\n"
		"sweep time                   : %us\n"
		"outstanding queries/max      : 0/%u\n"
		"remove missing nodes from DB : %s\n"
		"query ClassPortInfo          : %s\n",
		(unsigned)conf->perfmgr_sweep_time_s, (unsigned)conf->perfmgr_max_outstanding_queries,
		conf->perfmgr_rm_nodes ? "TRUE" : "FALSE", conf->perfmgr_query_cpi ? "TRUE" : "FALSE");
}

void console_perfmgr(struct console *c, struct console_words *w, mono_t now)
{
	const char *word = console_word(w);
	char shown[64];

	if (word)
		fprintf(c->out, "%s: this opensm has no performance manager\n",
			str_printable(word, strlen(word), shown, sizeof(shown)));
	else
		print_state(c);
}
