// SPDX-License-Identifier: GPL-2.0-only
/* 5.17: pde_data(), before PDE_DATA(). */
#include <linux/proc_fs.h>

void *krp_probe(const struct inode *inode)
{
	return pde_data(inode);
}
