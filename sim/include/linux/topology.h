/* SPDX-License-Identifier: GPL-2.0-only */
/* User-space stand-in: NUMA nodes, as sim_set_cpus() made them. */
#ifndef KRP_SIM_TOPOLOGY_H
#define KRP_SIM_TOPOLOGY_H

#include <linux/cpumask.h>

#define nr_node_ids		sim_nr_nodes
#define cpu_to_node(cpu)	sim_cpu_node[cpu]
#define numa_mem_id()		max(cpu_to_node(krp_cpu), 0)
#define node_distance(from, to)	sim_node_distance[from][to]

#endif
