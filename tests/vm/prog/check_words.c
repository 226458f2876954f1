/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

const char *
words_get(const struct words *words, const char *key)
{
	size_t length = strlen(key);
	unsigned int i;

	for (i = 1; i < words->count; i++) {
		if (strncmp(words->word[i], key, length) == 0 && words->word[i][length] == '=')
			return &words->word[i][length + 1];
	}
	return NULL;
}

uint64_t
words_number(const struct words *words, const char *key, uint64_t otherwise)
{
	const char *text = words_get(words, key);

	return text == NULL ? otherwise : strtoull(text, NULL, 0);
}

bool
words_has(const struct words *words, const char *word)
{
	unsigned int i;

	for (i = 1; i < words->count; i++) {
		if (strcmp(words->word[i], word) == 0)
			return true;
	}
	return false;
}

const char *
words_at(const struct words *words, unsigned int i)
{
	return i < words->count ? words->word[i] : "";
}

uint16_t
words_port(const struct words *words)
{
	return (uint16_t)strtoul(words_at(words, 1), NULL, 0);
}

int
names_parse(const char *text, const struct named *table, uint64_t *value)
{
	const struct named *entry;
	size_t length;

	*value = 0;
	while (text != NULL && *text != '\0') {
		length = strcspn(text, ",");
		for (entry = table; entry->name != NULL; entry++) {
			if (strlen(entry->name) == length &&
				strncmp(entry->name, text, length) == 0)
				break;
		}
		if (entry->name == NULL) {
			answer("unknown name in '%s'", text);
			return -EINVAL;
		}
		*value |= entry->value;
		text += length;
		text += *text == ',' ? 1 : 0;
	}
	return 0;
}
