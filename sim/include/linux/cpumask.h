/* SPDX-License-Identifier: GPL-2.0-only */
/* User-space stand-in: CPUs, as sim_set_cpus() made them. */
#ifndef KRP_SIM_CPUMASK_H
#define KRP_SIM_CPUMASK_H

#include <linux/types.h>
#include <sim.h>

#define nr_cpu_ids		sim_nr_cpu_ids
#define num_possible_cpus()	sim_nr_possible
#define cpu_possible(cpu)	sim_cpu_possible[cpu]
/* The first possible CPU from @cpu on, or nr_cpu_ids. */
static inline unsigned int sim_next_possible(unsigned int cpu)
{
	while (cpu < nr_cpu_ids && !cpu_possible(cpu))
		cpu++;
	return cpu;
}

#define for_each_possible_cpu(cpu) \
	for ((cpu) = sim_next_possible(0); (cpu) < nr_cpu_ids; (cpu) = sim_next_possible((cpu) + 1))

#endif
