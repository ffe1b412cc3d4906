// SPDX-License-Identifier: GPL-2.0-only
/*
 * The terminal: its own screen for a program that fills it, keys without
 * return, and all as it was before, however the program ends.
 */

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "commands.h"
#include "term.h"

/* Screen of its own, no cursor; and back. Terminals without them ignore them. */
#define ENTER	"\033[?1049h\033[?25l\033[H\033[J"
#define LEAVE	"\033[?25h\033[?1049l"

static const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

static struct termios before;
static bool raw;
static sigset_t unblocked;
static atomic_int ended, resized, stopped;

static void on_signal(int signal)
{
	switch (signal) {
	case SIGWINCH:
		resized = 1;
		break;
	case SIGTSTP:
		stopped = 1;
		break;
	default:
		ended = signal;
	}
}

/* The terminal may be gone: nothing to be done about that. */
static void say(const char *text)
{
	ssize_t ignored = write(STDOUT_FILENO, text, strlen(text));

	(void)ignored;
}

static void enter(void)
{
	struct termios now;

	raw = !tcgetattr(STDIN_FILENO, &before);
	if (raw) {
		now = before;
		now.c_lflag &= ~(ICANON | ECHO);
		now.c_cc[VMIN] = 0;
		now.c_cc[VTIME] = 0;
		tcsetattr(STDIN_FILENO, TCSADRAIN, &now);
	}
	say(ENTER);
}

static void leave(void)
{
	say(LEAVE);
	if (raw)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
	raw = false;
}

/**
 * term_size() - how large the terminal is
 *
 * Return: its size now.
 */
struct term_size term_size(void)
{
	struct term_size size = { 24, 80 };
	struct winsize ws;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) && ws.ws_row && ws.ws_col)
		size = (struct term_size){ ws.ws_row, ws.ws_col };
	return size;
}

static void catch(int signal)
{
	struct sigaction action = { .sa_handler = on_signal }, old;

	/* What nohup, or a shell without job control, wants ignored stays so. */
	if (!sigaction(signal, NULL, &old) && old.sa_handler == SIG_IGN)
		return;
	sigaction(signal, &action, NULL);
}

/**
 * term_begin() - take the terminal
 *
 * Signals that end or stop the program come only within term_wait().
 *
 * Return: 0, or -1 with errno set.
 */
int term_begin(void)
{
	sigset_t mask;
	size_t i;

	sigemptyset(&mask);
	for (i = 0; i < ARRAY_SIZE(ending); i++) {
		sigaddset(&mask, ending[i]);
		catch(ending[i]);
	}
	sigaddset(&mask, SIGWINCH);
	sigaddset(&mask, SIGTSTP);
	catch(SIGWINCH);
	catch(SIGTSTP);
	if (sigprocmask(SIG_BLOCK, &mask, &unblocked))
		return -1;
	enter();
	return 0;
}

/**
 * term_end() - give the terminal back as it was
 */
void term_end(void)
{
	leave();
	sigprocmask(SIG_SETMASK, &unblocked, NULL);
}

/* As if nothing had been caught: the shell takes over, and gives back. */
static void stop(void)
{
	stopped = 0;
	leave();
	raise(SIGSTOP);
	enter();
	resized = 1;
}

/**
 * term_wait() - wait for a key
 * @ms: at most so many milliseconds
 *
 * Return: the key, or TERM_TIME, TERM_RESIZED, TERM_ENDED.
 */
int term_wait(unsigned int ms)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	struct timespec time = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };
	int ready = ppoll(&input, raw, &time, &unblocked);
	unsigned char key;

	if (stopped)
		stop();
	if (ended)
		return TERM_ENDED;
	if (resized) {
		resized = 0;
		return TERM_RESIZED;
	}
	if (ready > 0 && read(STDIN_FILENO, &key, 1) == 1)
		return key;
	/* A terminal that has hung up is always ready. */
	if (ready > 0 && input.revents & (POLLHUP | POLLERR | POLLNVAL))
		return TERM_ENDED;
	return TERM_TIME;
}

/**
 * term_signal() - what has ended the program
 *
 * Return: the signal or 0.
 */
int term_signal(void)
{
	return ended;
}
