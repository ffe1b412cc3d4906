// SPDX-License-Identifier: GPL-2.0-only
/* 6.12: registering a uprobe returns a handle, unregistering has two halves. */
#include <linux/uprobes.h>

struct uprobe *krp_probe(struct inode *inode, struct uprobe_consumer *consumer)
{
	struct uprobe *uprobe = uprobe_register(inode, 0, 0, consumer);

	uprobe_unregister_nosync(uprobe, consumer);
	uprobe_unregister_sync();
	return uprobe;
}
