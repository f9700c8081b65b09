// SPDX-License-Identifier: BSD-2-Clause
/* The REST interface as a document of OpenAPI 3.0, made of the rows of its endpoints. */
#pragma once

/* The document, indented, with a newline at its end; to be freed. */
char *openapi_text(void);
