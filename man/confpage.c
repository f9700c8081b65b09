// SPDX-License-Identifier: BSD-2-Clause
/*
 * Prints opensm.conf(5), in mdoc, from the rows of options.def: a key that is not there cannot be
 * in the page, and none can be forgotten. What surrounds the rows is the page's own text, below.
 */
#include <stdio.h>
#include <string.h>

#include "conf/files.h"

static const char head[] =
	".\\\" SPDX-License-Identifier: BSD-2-Clause\n"
	".\\\" Made by man/confpage.c from opensm/conf/options.def; change them, not this.\n"
	".Dd November 22, 2026\n"
	".Dt OPENSM.CONF 5\n"
	".Os\n"
	".Sh NAME\n"
	".Nm opensm.conf\n"
	".Nd options of the InfiniBand subnet manager\n"
	".Sh SYNOPSIS\n"
	".Pa " CONF_FILE "\n"
	".Sh DESCRIPTION\n"
	"Options of\n"
	".Xr opensm 8 .\n"
	"Every option may be left out, and so may the file.\n"
	".Ql opensm -c FILE\n"
	"writes a complete file, with the values in force, where they come from, and every option "
	"explained;\n"
	".Ql opensm --check\n"
	"prints the errors of the present file.\n"
	"An option that was also given on the command line has the value from there.\n"
	".Pp\n"
	"With several instances on one host (see\n"
	".Xr opensm-launch 8 )\n"
	"each has a file of its own,\n"
	".Pa " CONF_FILE ".1 ,\n"
	".Pa " CONF_FILE ".2\n"
	"and so on.\n"
	".Ss Lines\n"
	"A line has a key, blanks and a value, without\n"
	".Ql =\n"
	"between them:\n"
	".Bd -literal -offset indent\n"
	"# the manager with the higher number is master\n"
	"sm_priority 10\n"
	"routing_engine minhop\n"
	"log_prefix \"fabric A\"\n"
	".Ed\n"
	".Pp\n"
	"A\n"
	".Ql #\n"
	"begins a comment wherever it stands, even inside quotes.\n"
	"The value is the rest of the line without the blanks around it; a pair of quotes around "
	"all of it is taken off.\n"
	"Keys are case sensitive.\n"
	"Of two lines with the same key the last one counts.\n"
	".Ss Values\n"
	".Bl -tag -width boolean\n"
	".It Cm number\n"
	"decimal, octal with a leading 0, or hexadecimal with a leading 0x.\n"
	".It Cm boolean\n"
	".Cm TRUE\n"
	"or\n"
	".Cm FALSE .\n"
	"Other spellings\n"
	".Pq Cm true , yes , 1 , on\n"
	"are accepted with a remark, because other subnet managers take them for FALSE.\n"
	".It Cm text\n"
	"as it stands;\n"
	".Cm (null)\n"
	"unsets it.\n"
	".El\n"
	".Ss Errors\n"
	"Each error is reported with file, line and column: the text found, the text expected, and "
	"the value used instead.\n"
	"At a start the option keeps its default and the manager starts, as other subnet managers "
	"do; with\n"
	".Fl -strict ,\n"
	"the option\n"
	".Xr opensm-launch 8\n"
	"uses, the manager ends with status 78 instead.\n"
	"At a reload\n"
	".Pq Dv SIGHUP\n"
	"one error leaves the running configuration as it is.\n"
	".Ss Options without effect\n"
	"Options that are not supported yet, or are accepted for old files only, are marked "
	"below.\n"
	"A value other than the default is a warning at its line, and an error with\n"
	".Fl -strict ;\n"
	"of an option that is always in force here a note says that the value changes nothing.\n"
	"An option that has an effect only with another one says so below.\n"
	"Set to another value than its default while the other one is off, it is a warning if it "
	"is one of security,\n"
	"else a remark, and an error with\n"
	".Fl -strict .\n"
	"The same holds for\n"
	".Cm m_key_protection_level\n"
	"without a key.\n"
	"The same holds for keys that only NVIDIA's subnet manager knows, unless their value "
	"switches them off\n"
	".Pq Cm FALSE , 0 , off , (null) .\n"
	"Keys that ask for a protection that is missing here\n"
	".Pq Cm vs_key_enable , n2n_key_enable\n"
	"and others like them are errors in any case, and the message says what is missing.\n"
	".Ss What a change costs\n"
	"Each option below says when a change takes effect:\n"
	".Bl -tag -width \"next sweep\"\n"
	".It reload\n"
	"a reload applies it at once;\n"
	".It next sweep\n"
	"the sweep that follows a reload at once writes it to the ports that differ, and does "
	"not read the fabric for it;\n"
	".It new routes\n"
	"routes are computed afresh as well;\n"
	".It restart\n"
	"it is read at the start only; a reload reports that a restart is needed.\n"
	".El\n"
	".Sh OPTIONS\n";

static const char files_head[] =
	".Sh FILES THAT OPTIONS NAME\n"
	"A file at the default path of its option may be missing; for files of Debian's OpenSM so "
	"may the same name in\n"
	".Pa /etc/opensm .\n"
	"A file that an option names anywhere else and that does not exist is an error at the line "
	"of the option:\n"
	".Fl -check\n"
	"and\n"
	".Fl -strict\n"
	"end with status 78, and a reload is refused.\n"
	"Started without\n"
	".Fl -strict ,\n"
	"the manager logs the error and continues as follows:\n"
	".Bl -tag -width Ds -compact\n";

static const char tail[] =
	".Sh FILES\n"
	".Bl -tag -width Ds -compact\n"
	".It Pa " CONF_FILE "\n"
	"the options\n"
	".It Pa " CONF_FILE ".N\n"
	"the options of instance N, a decimal number\n"
	".El\n"
	".Sh EXAMPLES\n"
	"The preferred master (the other host has 5); the present master stays master when the "
	"other host comes back:\n"
	".Bd -literal -offset indent\n"
	"sm_priority 10\n"
	"master_sm_priority 14\n"
	".Ed\n"
	".Pp\n"
	"A standby that takes over after three seconds without an answer:\n"
	".Bd -literal -offset indent\n"
	"sminfo_polling_timeout 1000\n"
	"polling_retry_number 2\n"
	".Ed\n"
	".Pp\n"
	"The second port of a host with a fabric of its own:\n"
	".Bd -literal -offset indent\n"
	"guid 0x0002c90300001235\n"
	"subnet_prefix 0xfe80000000000001\n"
	".Ed\n"
	".Sh SEE ALSO\n"
	".Xr opensmctl 1 ,\n"
	".Xr partitions.conf 5 ,\n"
	".Xr qos-policy.conf 5 ,\n"
	".Xr torus-2QoS.conf 5 ,\n"
	".Xr opensm 8 ,\n"
	".Xr opensm-launch 8\n";

/*
 * `text` as mdoc wants it: a sentence per line, nothing at the start of a line that looks like a
 * request.
 */
static void put_text(const char *text)
{
	bool line_start = true;

	for (const char *p = text; *p; p++) {
		if (line_start && (*p == '.' || *p == '\''))
			fputs("\\&", stdout);
		line_start = false;
		if (*p == '\\') {
			fputs("\\e", stdout);
		} else if (*p == '-') {
			fputs("\\-", stdout);
		} else if (*p == ' ' && p > text && (p[-1] == '.' || p[-1] == '?')) {
			putchar('\n');
			line_start = true;
		} else {
			putchar(*p);
		}
	}
	putchar('\n');
}

static const char *type_word(enum conf_type type)
{
	switch (type) {
	case CONF_BOOL:
		return "boolean";
	case CONF_U8:
	case CONF_U16:
	case CONF_U32:
	case CONF_I32:
	case CONF_U64:
		return "number";
	case CONF_STRING:
		return "text";
	case CONF_MASK256:
		return "mask of 256 bits, hexadecimal";
	case CONF_CCT_ENTRY:
		return "SHIFT:MULTIPLIER";
	case CONF_CCT_LIST:
		return "SHIFT:MULTIPLIER,...";
	case CONF_CC_PORTS:
		return "PORTS=SETTING,...";
	case CONF_SL_U16:
	case CONF_SL_U8:
		return "SL VALUE, a line per service level";
	}
	return "";
}

static const char *cost_words(enum conf_cost cost)
{
	switch (cost) {
	case CONF_COST_NOTHING:
	case CONF_COST_LOG:
		return "reload";
	case CONF_COST_SWEEP:
		return "next sweep";
	case CONF_COST_ROUTE:
		return "new routes";
	case CONF_COST_RESTART:
		return "restart";
	}
	return "";
}

static const char *state_words(enum conf_state state)
{
	switch (state) {
	case CONF_STATE_LATER:
		return "Accepted, and without effect in this version.";
	case CONF_STATE_NONE:
		return "Accepted, and without effect.";
	case CONF_STATE_ALWAYS:
		return "Always in force in this implementation, whatever the value.";
	case CONF_STATE_OWN:
		return "Not known to other subnet managers; -c writes it as a comment while it has "
		       "its default.";
	case CONF_STATE_EFFECTIVE:
		break;
	}
	return NULL;
}

/*
 * "text" and "needed path" say nothing that the type does not; the rest are words or numbers to
 * choose from.
 */
static bool range_says_something(const struct conf_option *o)
{
	static const char *const plain[] = { "any", "text", "path", "needed path" };

	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		if (strcmp(o->range, plain[i]) == 0)
			return false;
	return true;
}

/* "-1" and "-1-255" have a minus that is no range. */
static void put_range(const char *range)
{
	for (const char *p = range; *p; p++) {
		if (*p == '-' && p > range && p[-1] != ',')
			fputs(" to ", stdout);
		else if (*p == '-')
			fputs("\\-", stdout);
		else if (*p == ',' || *p == '|')
			fputs(", ", stdout);
		else
			putchar(*p);
	}
}

static void put_facts(const struct conf_option *o)
{
	const char *state = state_words(o->state);
	const char *need = conf_need((enum conf_id)(o - conf_option(0)));
	bool is_words = o->type == CONF_STRING && range_says_something(o);

	if (state)
		put_text(state);
	if (need)
		printf("Without effect while %s.\n", need);
	printf("(%s", is_words ? "" : type_word(o->type));
	if (range_says_something(o)) {
		fputs(is_words ? "" : ", ", stdout);
		if (is_words)
			fputs("one of ", stdout);
		put_range(o->range);
	}
	printf("; default %s; %s)\n", o->default_text, cost_words(o->cost));
}

/* Keys without help of their own stand with the one above that explains them. */
static unsigned put_option(unsigned id)
{
	const struct conf_option *first = conf_option(id);
	unsigned end = id + 1;

	while (end < CONF_N_OPTIONS && !conf_option(end)->help[0])
		end++;
	for (unsigned i = id; i < end; i++)
		printf(".It Cm %s\n", conf_option(i)->name);
	put_text(first->help);
	if (end == id + 1) {
		put_facts(first);
		return end;
	}
	for (unsigned i = id; i < end; i++) {
		printf(".br\n.Cm %s :\n", conf_option(i)->name);
		put_facts(conf_option(i));
	}
	return end;
}

/* What each option that names a file comes to without it. */
static void put_files(void)
{
	fputs(files_head, stdout);
	for (unsigned id = 0; id < CONF_N_OPTIONS; id++) {
		const char *without = conf_file_without(id);

		if (!without)
			continue;
		printf(".It Cm %s\n", conf_option(id)->name);
		put_text(without);
	}
	fputs(".El\n", stdout);
}

int main(void)
{
	const char *section = NULL;

	fputs(head, stdout);
	for (unsigned id = 0; id < CONF_N_OPTIONS;) {
		const struct conf_option *o = conf_option(id);

		if (o->section != section)
			printf("%s.Ss %s\n.Bl -tag -width Ds\n", section ? ".El\n" : "",
			       o->section);
		section = o->section;
		id = put_option(id);
	}
	fputs(".El\n", stdout);
	put_files();
	fputs(tail, stdout);
	return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
