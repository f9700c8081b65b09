// SPDX-License-Identifier: BSD-2-Clause
/* Prints the description of the REST interface (OpenAPI 3.0) from the table of its endpoints. */
#pragma once

/* The document, indented, with a newline at its end; to be freed. */
char *openapi_text(void);
