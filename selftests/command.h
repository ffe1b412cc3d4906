/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _KRP_SELFTESTS_COMMAND_H
#define _KRP_SELFTESTS_COMMAND_H

#include <linux/err.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/uaccess.h>

/*
 * A command that a test has written to a file, without blanks around it, in @text,
 * which has room for @size bytes. -EINVAL: that is not enough.
 */
static inline char *command_read(char *text, size_t size, const char __user *buf, size_t len)
{
	if (len >= size)
		return ERR_PTR(-EINVAL);
	if (copy_from_user(text, buf, len))
		return ERR_PTR(-EFAULT);
	text[len] = '\0';
	return strim(text);
}

#endif
