// SPDX-License-Identifier: BSD-2-Clause
/* Values as the REST interface spells them. */
#include "rest/api_values.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "ib/codes.h"
#include "util/mem.h"
#include "util/str.h"

/* ---- P_Keys ---------------------------------------------------------------------------------- */

static bool is_hex(const char *text)
{
	return text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
}

bool api_pkey_of_text(const char *text, uint16_t *ret)
{
	uint64_t v;

	assert(text && ret);
	if (is_hex(text) ? str_to_u64(text + 2, 16, API_PKEY_DEFAULT, &v)
			 : str_to_u64(text, 10, API_PKEY_DEFAULT, &v))
		return false;
	*ret = (uint16_t)v;
	return true;
}

bool api_pkey_of_json(struct json_object *v, uint16_t *ret)
{
	int64_t n;

	assert(ret);
	if (json_object_is_type(v, json_type_string))
		return api_pkey_of_text(json_object_get_string(v), ret);
	n = json_object_get_int64(v);
	if (!json_object_is_type(v, json_type_int) || n < 0 || n > (int64_t)API_PKEY_DEFAULT)
		return false;
	*ret = (uint16_t)n;
	return true;
}

void api_pkey_text(uint16_t pkey, char ret[API_PKEY_TEXT])
{
	snprintf(ret, API_PKEY_TEXT, "0x%x", pkey & API_PKEY_DEFAULT);
}

/* ---- GUIDs ----------------------------------------------------------------------------------- */

#define GUID_DIGITS	16u
#define GUID_CHARACTERS 20u

bool api_guid_of_text(const char *text, guid_t *ret)
{
	const char *digits;
	size_t len;
	uint64_t v;

	assert(text && ret);
	digits = is_hex(text) ? text + 2 : text;
	len = strlen(digits);
	if (len < GUID_DIGITS || strlen(text) > GUID_CHARACTERS ||
	    strspn(digits, "0") < len - GUID_DIGITS ||
	    str_to_u64(digits + len - GUID_DIGITS, 16, UINT64_MAX, &v) != 0 || !v)
		return false;
	*ret = v;
	return true;
}

void api_guid_text(guid_t guid, char ret[API_GUID_TEXT])
{
	snprintf(ret, API_GUID_TEXT, "%016" PRIx64, guid);
}

/* ---- others ---------------------------------------------------------------------------------- */

const char *api_membership(const char *text)
{
	if (!strcasecmp(text, "full"))
		return "full";
	return strcasecmp(text, "limited") != 0 ? NULL : "limited";
}

bool api_bool_of_text(const char *text, bool *ret)
{
	bool yes = !strcasecmp(text, "true") || !strcmp(text, "1");

	if (!yes && strcasecmp(text, "false") != 0 && strcmp(text, "0") != 0)
		return false;
	*ret = yes;
	return true;
}

bool api_bool_of_json(struct json_object *v, bool *ret)
{
	switch (json_object_get_type(v)) {
	case json_type_boolean:
		*ret = json_object_get_boolean(v);
		return true;
	case json_type_int:
	case json_type_string:
		return api_bool_of_text(json_object_get_string(v), ret);
	default:
		return false;
	}
}

/* A number, or a text that is one: in tenths, rounded. False: neither, or not from 0 to 10^6. */
static bool tenths_of(struct json_object *v, unsigned *ret)
{
	const char *text = json_object_get_string(v);
	char *end;
	double n;

	if (!json_object_is_type(v, json_type_int) && !json_object_is_type(v, json_type_double) &&
	    !json_object_is_type(v, json_type_string))
		return false;
	if (strspn(text, "0123456789.eE+") != strlen(text))
		return false;
	n = strtod(text, &end);
	if (end == text || *end || !(n >= 0 && n <= 1e6))
		return false;
	*ret = (unsigned)(n * 10 + 0.5);
	return n * 10 < *ret + 1e-6 && n * 10 > *ret - 1e-6;
}

unsigned api_rate_of_json(struct json_object *v)
{
	unsigned tenths;

	return tenths_of(v, &tenths) ? ib_rate_of_bandwidth(tenths) : 0;
}

/* Integers without a decimal point, others with as many digits as needed. */
static struct json_object *number_of(double n)
{
	char text[32];

	if (n == (double)(int64_t)n)
		return json_object_new_int64((int64_t)n);
	snprintf(text, sizeof(text), "%g", n);
	return json_object_new_double_s(n, text);
}

struct json_object *api_rate_to_json(unsigned rate)
{
	return number_of(ib_rate_bandwidth(rate) / 10.0);
}

unsigned api_mtu_of_json(struct json_object *v)
{
	unsigned tenths;

	if (!tenths_of(v, &tenths))
		return 0;
	if (tenths == 20)
		return IB_MTU_2048;
	return tenths == 40 ? IB_MTU_4096 : 0;
}

struct json_object *api_mtu_to_json(unsigned mtu)
{
	return number_of(ib_mtu_bytes(mtu) / 1024.0);
}

bool api_sl_of_json(struct json_object *v, unsigned *ret)
{
	unsigned tenths;

	if (!tenths_of(v, &tenths) || tenths % 10 || tenths > 150)
		return false;
	*ret = tenths / 10;
	return true;
}
