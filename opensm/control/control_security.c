// SPDX-License-Identifier: BSD-2-Clause
/* The security checklist as a document. */
#include "api/security.h"
#include "control/control_internal.h"
#include "util/mem.h"

#define CHECK_FIELDS(F)                                                                            \
	F("number", INT, i + 1)                                                                    \
	F("name", STR, s.checks[i].name)                                                           \
	F("verdict", WORD(security_verdict_name, SECURITY_FAIL + 1),                               \
	  security_verdict_name(s.checks[i].verdict))                                              \
	F("present", STR, s.checks[i].present)                                                     \
	F("advice", OPT(STR), s.checks[i].verdict == SECURITY_PASS ? NULL : s.checks[i].advice)

static const struct json_field check_fields[] = FIELDS_TABLE(CHECK_FIELDS);

#define SECURITY_FIELDS(F)                                                                         \
	F("profile", STR, conf->security_profile)                                                  \
	F("passed", INT, security_count(&s, SECURITY_PASS))                                        \
	F("failed", INT, security_count(&s, SECURITY_FAIL))                                        \
	F("unknown", INT, security_count(&s, SECURITY_UNKNOWN))                                    \
	F("checks", LIST(check_fields), JSON_LIST(SECURITY_CHECKS, FIELDS_ITEM(CHECK_FIELDS)))     \
	F("n_ports", INT, s.n_ports)                                                               \
	F("ports", OF("[]string"),                                                                 \
	  JSON_LIST(MIN(s.n_ports, SECURITY_PORTS_MAX), json_object_new_string(s.ports[i])))

const struct json_field control_security_fields[] = FIELDS_TABLE(SECURITY_FIELDS);

struct json_object *control_security(const struct daemon_api *api, struct json_object *parameters,
				     struct control_error *err)
{
	const struct conf *conf = api->sm ? sm_conf(api->sm) : api->conf;
	struct security s;

	security_judge(api, SECURITY_WITH_FILES, &s);
	return FIELDS_NEW(SECURITY_FIELDS);
}
