/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * The table of options: one entry is all that an option needs. What --help says and what a bad
 * value is told come from the same entry.
 */
#ifndef TPP_OPTION_DEF_H
#define TPP_OPTION_DEF_H

#include <stddef.h>

#include "options.h"

/** What an option takes and does. */
enum option_kind {
	OPT_NUMBER,  /**< uint32_t from min to max. */
	OPT_SECONDS, /**< double from min to max. */
	OPT_ON,      /**< Sets a bool. */
	OPT_OFF,     /**< Clears a bool. */
	OPT_TEXT,    /**< const char *, at most max characters. */
	OPT_PARSE,   /**< Calls parse(). */
	OPT_HELP,    /**< Ends the program after a few words, and so does the next. */
	OPT_VERSION,
};

/** An option. */
struct option_def {
	const char *name;
	const char *arg;  /**< What help calls its value; NULL: it takes none. */
	const char *help; /**< One line or more. */
	enum option_kind kind;
	size_t offset; /**< The field of struct tpp_options that it sets. */
	double min, max;
	int (*parse)(struct tpp_options *opts, const char *value);
	const char *limits; /**< What parse() takes; NULL: the names of the modes. */
};

/** All options, in the order of --help; the last has no name. */
extern const struct option_def option_defs[];

/** Set what an option sets. @return 0, or -errno if the value is bad. */
int option_store(struct tpp_options *opts, const struct option_def *def, const char *value);

/** Say what is wrong with a value, and what would be right. */
void option_complain(const struct option_def *def, const char *value);

#endif /* TPP_OPTION_DEF_H */
