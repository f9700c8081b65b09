// SPDX-License-Identifier: BSD-2-Clause
/*
 * Values as the REST interface spells them, read and written.
 *
 * Requests come from clients of several makers, which differ: a P_Key is a number or a text, a
 * boolean is true or "True". The comment of each function lists what it understands; the rest is
 * refused with a sentence. Answers have one spelling, on which clients compare bytes.
 *
 * Pure. P_Keys are base keys (bit 15 clear); rates and MTUs are codes of the specification.
 */
#pragma once

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/types.h"

#define API_WHY_MAX 256 /* bytes of a text that says what is wrong */

/* ---- P_Keys ---------------------------------------------------------------------------------- */

#define API_PKEY_DEFAULT 0x7FFFu
#define API_PKEY_MAX	 0x7FFEu /* highest key that may be changed; the lowest is 1 */
#define API_PKEY_TEXT	 8	 /* bytes of "0x7fff" with its NUL */

/*
 * Reads "0x5", "0x0005" (hexadecimal), "5" (decimal), no blanks, up to 0x7FFF; 0 is accepted.
 * False: none of these.
 */
bool api_pkey_of_text(const char *text, uint16_t *ret);
/* Reads a P_Key as text or as a whole number of JSON. False: neither, or `v` is NULL. */
bool api_pkey_of_json(struct json_object *v, uint16_t *ret);
/* "0x5": lower case, not padded. */
void api_pkey_text(uint16_t pkey, char ret[API_PKEY_TEXT]);

/* ---- GUIDs ----------------------------------------------------------------------------------- */

#define API_GUID_TEXT 17 /* bytes of "946dae03005985c8" with its NUL */

/*
 * 16 hexadecimal digits in either case, with or without "0x"; up to 20 characters, if the extra
 * leading digits are zeros. False: none of these, or 0.
 */
bool api_guid_of_text(const char *text, guid_t *ret);
/* The 16 digits, in lower case. */
void api_guid_text(guid_t guid, char ret[API_GUID_TEXT]);

/* ---- others ---------------------------------------------------------------------------------- */

/* "full", "limited" in either case: constant text in lower case; NULL: neither. */
const char *api_membership(const char *text);
/* Reads true, false, 1, 0, and these as text in either case. False: none of these. */
bool api_bool_of_json(struct json_object *v, bool *ret);
bool api_bool_of_text(const char *text, bool *ret);
/*
 * Code of a rate in Gb/s: a number, perhaps with a fraction, or a text; 0: there is no such rate.
 */
unsigned api_rate_of_json(struct json_object *v);
/* Gb/s of a code: 2.5, 200; 0 for an unknown code. One reference, the caller's. */
struct json_object *api_rate_to_json(unsigned rate);
/* Code of an MTU of 2 or 4 (K bytes), a number or a text; 0: neither. */
unsigned api_mtu_of_json(struct json_object *v);
/* K bytes of a code, 0.25 to 4; 0 for an unknown code. One reference, the caller's. */
struct json_object *api_mtu_to_json(unsigned mtu);
/* Reads an SL, 0 to 15, a number or a text. False: none of these. */
bool api_sl_of_json(struct json_object *v, unsigned *ret);

/* ---- hosts ----------------------------------------------------------------------------------- */

#define API_HOSTS_MAX 65536u /* names of one list */
#define API_HOST_MAX  255u   /* bytes of a name */

/*
 * Names of a list "n1,n2", "n[1-2,7],gpu[08-10]": an array in the order of the list, the caller's.
 * NULL: `why` says what is wrong. Blanks around names are left out; no name is empty.
 */
struct json_object *api_hosts_expand(const char *list, char why[API_WHY_MAX]);
