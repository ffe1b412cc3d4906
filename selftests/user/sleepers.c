// SPDX-License-Identifier: GPL-2.0-only
/*
 * sleepers N FILE: N threads read FILE at once, each sleeping in there until it
 * is woken.
 */

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define STACK	(64 * 1024)

static void *sleeper(void *path)
{
	char text[16];
	int fd = open(path, O_RDONLY);

	if (fd < 0 || read(fd, text, sizeof(text)) < 0) {
		perror(path);
		exit(1);
	}
	close(fd);
	return NULL;
}

int main(int argc, char **argv)
{
	int i, n = argc == 3 ? atoi(argv[1]) : 0;
	pthread_attr_t attr;
	pthread_t *threads;

	if (n <= 0) {
		fprintf(stderr, "usage: sleepers N FILE\n");
		return 2;
	}
	threads = calloc(n, sizeof(*threads));
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	for (i = 0; i < n; i++) {
		if (!threads || pthread_create(&threads[i], &attr, sleeper, argv[2])) {
			fprintf(stderr, "sleepers: thread %d cannot be started\n", i);
			return 1;
		}
	}
	for (i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
