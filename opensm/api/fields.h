// SPDX-License-Identifier: BSD-2-Clause
/*
 * The members of a JSON object of a document as one list, which gives both its JSON and its
 * description in varlink's language:
 *
 *   #define MARK_FIELDS(F)                                                     \
 *           F("kind", STR, mark_kind_name(m->kind))                            \
 *           F("port", KNOWN, m->port != MARK_WHOLE_SWITCH, m->port)            \
 *           F("peer", OPT_OBJECT(end_fields), end_of(m))
 *
 *   static const struct json_field mark_fields[] = FIELDS_TABLE(MARK_FIELDS);
 *
 *   static struct json_object *mark_of(const struct link_mark *m)
 *   {
 *           return FIELDS_NEW(MARK_FIELDS);
 *   }
 *
 * A value is an expression in the scope of that function. A method names the table of its answer in
 * `gives`.
 */
#pragma once

#include "api/json.h"

struct json_field {
	const char *key;
	/* varlink type, "?string"; of objects with `of` the part before "(": "[]" */
	const char *type;
	const struct json_field *of; /* members of the object; NULL: they are not described */
	bool optional;		     /* set if an object may be without this member */
	const char *help;	     /* a phrase about the value; NULL: none */
	const char *format;	     /* of a string: FIELD_FORMAT_...; NULL: any */
	const char *(*word)(unsigned n); /* of a string that is one of words: the n-th */
	unsigned n_words;		 /* 0: any text */
};

/* "(node: string, marks: [](port: ?int))", to be freed. */
char *json_fields_text(const struct json_field *fields);

#define FIELD_ROW(name, kind, ...) { .key = name, FIELD_TYPE_##kind },
#define FIELD_PUT(key, kind, ...)  FIELD_PUT_##kind(o, key, __VA_ARGS__);
#define FIELD_NEW(key, kind, ...)  FIELD_PUT_##kind(new_object, key, __VA_ARGS__);
#define FIELD_ITEM(key, kind, ...) FIELD_PUT_##kind(item, key, __VA_ARGS__);

/* A row of a list of which some objects have no member. */
#define FIELD_MAYBE(name, kind, ...) { .key = name, .optional = true, FIELD_TYPE_##kind },

#define FIELDS_TABLE(list) { list(FIELD_ROW) { 0 } }
/* Adds the members to `o`, a variable of the calling function. */
#define FIELDS_PUT(list) do { list(FIELD_PUT) } while (0)
/* Makes a new object, the caller's; in values of a list use FIELDS_ITEM(). */
#define FIELDS_NEW(list)                                                                           \
	({                                                                                         \
		struct json_object *new_object = json_object_new_object();                         \
                                                                                                   \
		list(FIELD_NEW) new_object;                                                        \
	})
#define FIELDS_ITEM(list)                                                                          \
	({                                                                                         \
		struct json_object *item = json_object_new_object();                               \
                                                                                                   \
		list(FIELD_ITEM) item;                                                             \
	})
/* Makes a new array of `object`, an expression of i from 0 on: `n` times, or as long as `more`. */
#define JSON_LIST(n, object) JSON_LIST_OF(, i < (n), object)
#define JSON_LIST_OF(variable, more, object)                                                       \
	({                                                                                         \
		struct json_object *all = json_object_new_array();                                 \
		variable;                                                                          \
                                                                                                   \
		for (unsigned i = 0; more; i++)                                                    \
			json_object_array_add(all, object);                                        \
		all;                                                                               \
	})

/* Kinds of values. OPT(kind) is described with '?', as the value may be null. */
#define FIELD_WORD_STR	 "string" /* NULL: null */
#define FIELD_WORD_GUID	 "string" /* 0: null */
#define FIELD_WORD_HEX	 "string" /* "0x7fff" */
#define FIELD_WORD_TIME	 "string" /* microseconds since 1970; 0: null */
#define FIELD_WORD_INT	 "int"
#define FIELD_WORD_FLOAT "float"  /* NAN: null */
#define FIELD_WORD_BOOL	 "bool"
/* What the text of a string looks like. */
#define FIELD_FORMAT_STR   NULL
#define FIELD_FORMAT_GUID  "guid"	/* "0x0002c90300a1b2c3" */
#define FIELD_FORMAT_HEX   NULL
#define FIELD_FORMAT_TIME  "date-time" /* RFC 3339, in UTC */
#define FIELD_FORMAT_INT   NULL
#define FIELD_FORMAT_FLOAT NULL
#define FIELD_FORMAT_BOOL  NULL

#define FIELD_TYPE_STR	     .type = FIELD_WORD_STR
#define FIELD_TYPE_GUID	     .type = FIELD_WORD_GUID, .format = FIELD_FORMAT_GUID
#define FIELD_TYPE_HEX	     .type = FIELD_WORD_HEX
#define FIELD_TYPE_TIME	     .type = FIELD_WORD_TIME, .format = FIELD_FORMAT_TIME
#define FIELD_TYPE_INT	     .type = FIELD_WORD_INT
#define FIELD_TYPE_FLOAT     .type = FIELD_WORD_FLOAT
#define FIELD_TYPE_BOOL	     .type = FIELD_WORD_BOOL
#define FIELD_TYPE_OPT(kind) .type = "?" FIELD_WORD_##kind, .format = FIELD_FORMAT_##kind
/* One of `n` words, that name(0) to name(n - 1) give. */
#define FIELD_TYPE_WORD(name, n)     .type = FIELD_WORD_STR, .word = name, .n_words = n
#define FIELD_TYPE_OPT_WORD(name, n) .type = "?" FIELD_WORD_STR, .word = name, .n_words = n
#define FIELD_TYPE_TEXT	     .type = "?string" /* "": null */
/* since 1970; 0: null */
#define FIELD_TYPE_SECONDS   .type = "?string", .format = FIELD_FORMAT_TIME
#define FIELD_TYPE_KNOWN     .type = "?int" /* two arguments: whether it is known, and the number */
/* The value is a struct json_object *, which is taken; NULL: null. */
/* without a further description of its members */
#define FIELD_TYPE_OF(text)	      .type = text
#define FIELD_TYPE_OBJECT(fields)     .type = "", .of = fields
#define FIELD_TYPE_OPT_OBJECT(fields) .type = "?", .of = fields
#define FIELD_TYPE_LIST(fields)	      .type = "[]", .of = fields
#define FIELD_TYPE_OPT_LIST(fields)   .type = "?[]", .of = fields
#define FIELD_TYPE_MAP(fields)	      .type = "[string]", .of = fields
/* A member that is left out unless `is`. */
#define FIELD_TYPE_IF(is, kind)	      FIELD_TYPE_##kind, .optional = true

#define FIELD_PUT_STR			   json_add_str
#define FIELD_PUT_GUID			   json_add_guid
#define FIELD_PUT_HEX			   json_add_hex
#define FIELD_PUT_TIME			   json_add_time
#define FIELD_PUT_INT(o, key, value)	   json_add_int(o, key, (int64_t)(value))
#define FIELD_PUT_FLOAT			   json_add_double
#define FIELD_PUT_BOOL			   json_add_bool
#define FIELD_PUT_OPT(kind)		   FIELD_PUT_##kind
#define FIELD_PUT_WORD(name, n)		   json_add_str
#define FIELD_PUT_OPT_WORD(name, n)	   json_add_str
#define FIELD_PUT_TEXT			   json_add_text
#define FIELD_PUT_SECONDS		   json_add_seconds
#define FIELD_PUT_KNOWN(o, key, is, value) json_add_known(o, key, is, (int64_t)(value))
#define FIELD_PUT_OF(text)		   json_object_object_add
#define FIELD_PUT_OBJECT(fields)	   json_object_object_add
#define FIELD_PUT_OPT_OBJECT(fields)	   json_object_object_add
#define FIELD_PUT_LIST(fields)		   json_object_object_add
#define FIELD_PUT_OPT_LIST(fields)	   json_object_object_add
#define FIELD_PUT_IF(is, kind)		   if (is) FIELD_PUT_##kind
