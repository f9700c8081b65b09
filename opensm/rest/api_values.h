// SPDX-License-Identifier: BSD-2-Clause
/*
 * Values as the REST interface spells them, understood and written.
 *
 * Requests come from clients of several makers, which differ: a P_Key is a number or a text, a
 * switch is true or "True". What is understood is listed here function by function; the rest is
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

#define API_WHY_MAX 256 /* bytes of a sentence that says what is wrong */

/* ---- P_Keys ---------------------------------------------------------------------------------- */

#define API_PKEY_DEFAULT 0x7FFFu
#define API_PKEY_MAX	 0x7FFEu /* of keys that may be changed, from 1 */
#define API_PKEY_TEXT	 8	 /* bytes of "0x7fff" with its NUL */

/*
 * "0x5", "0x0005" (hexadecimal), "5" (decimal), no blanks, up to 0x7FFF. False: none of these; 0 is
 * one.
 */
bool api_pkey_of_text(const char *text, uint16_t *ret);
/* The same as a text, or a whole number of JSON. NULL is none. */
bool api_pkey_of_json(struct json_object *v, uint16_t *ret);
/* "0x5": lower case, not padded. */
void api_pkey_text(uint16_t pkey, char ret[API_PKEY_TEXT]);

/* ---- GUIDs ----------------------------------------------------------------------------------- */

#define API_GUID_TEXT 17 /* bytes of "946dae03005985c8" with its NUL */

/*
 * 16 hexadecimal digits in either case, with or without "0x"; up to 20 characters, if the digits
 * too many are zeros in front. False: none of these, or 0.
 */
bool api_guid_of_text(const char *text, guid_t *ret);
/* The 16 digits, in lower case. */
void api_guid_text(guid_t guid, char ret[API_GUID_TEXT]);

/* ---- others ---------------------------------------------------------------------------------- */

/* "full", "limited" in either case: constant text in lower case; NULL: neither. */
const char *api_membership(const char *text);
/* true, false, 1, 0, and these as text in either case. False: none of these. */
bool api_bool_of_json(struct json_object *v, bool *ret);
bool api_bool_of_text(const char *text, bool *ret);
/* Gb/s, whole or with a fraction, or as text: the code; 0: there is no such rate. */
unsigned api_rate_of_json(struct json_object *v);
/* Gb/s of a code: 2.5, 200; of a code that is none 0. One reference, the caller's. */
struct json_object *api_rate_to_json(unsigned rate);
/* 2 or 4 (K bytes), or as text: the code; 0: neither. */
unsigned api_mtu_of_json(struct json_object *v);
/* K bytes of a code, 0.25 to 4; of a code that is none 0. One reference, the caller's. */
struct json_object *api_mtu_to_json(unsigned mtu);
/* 0 to 15, or as text. False: none of these. */
bool api_sl_of_json(struct json_object *v, unsigned *ret);

/* ---- hosts ----------------------------------------------------------------------------------- */

#define API_HOSTS_MAX 65536u /* names of one list */
#define API_HOST_MAX  255u   /* bytes of a name */

/*
 * "n1,n2", "n[1-2,7],gpu[08-10]": an array of names in the order of the list, the caller's. NULL:
 * `why` says what is wrong. Blanks around names are left out; no name is empty.
 */
struct json_object *api_hosts_expand(const char *list, char why[API_WHY_MAX]);
