/* dribble: copies stdin to stdout a byte at a time: with -r one read per byte, without it one write per byte; with -u N
 * it pauses for N microseconds after each. Simulates a slow neighbour of a stage. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void rest(long microseconds)
{
	struct timespec t = { microseconds / 1000000, microseconds % 1000000 * 1000 };

	if (microseconds)
		nanosleep(&t, NULL);
}

int main(int argc, char **argv)
{
	static char buffer[65536];
	size_t room = sizeof buffer;
	long pause = 0;
	ssize_t n;

	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "-r"))
			room = 1;
		else if (!strcmp(argv[i], "-u") && i + 1 < argc)
			pause = atol(argv[++i]);
	while ((n = read(0, buffer, room)) > 0) {
		for (ssize_t i = 0; i < n; i++) {
			if (write(1, buffer + i, 1) != 1)
				return 1;
			if (room > 1)
				rest(pause);
		}
		if (room == 1)
			rest(pause);
	}
	return n < 0;
}
