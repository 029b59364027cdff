/* guard: the SIGBUS handler and the table of mappings it reads. The table is changed by one thread while no other touches the mapping in
 * question, so the handler, on whatever thread it runs, sees whole entries. */
#include "guard.h"

#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

enum { MAPPINGS = 64, NAME = 256 };

static struct mapping {
	uintptr_t start, end;   /* end 0: a free place */
	char name[NAME];
} mappings[MAPPINGS];

static char program[64];

static size_t append(char *line, size_t at, size_t room, const char *s)
{
	for (; *s && at + 2 < room; s++)
		line[at++] = (unsigned char)*s < ' ' || *s == 127 ? '?' : *s;
	return at;
}

static void on_sigbus(int signal, siginfo_t *info, void *context)
{
	uintptr_t where = (uintptr_t)info->si_addr;
	const char *name = "a mapped file";
	char line[NAME + 128];
	size_t n;

	for (int i = 0; i < MAPPINGS; i++)
		if (where >= mappings[i].start && where < mappings[i].end)
			name = mappings[i].name;
	n = append(line, 0, sizeof line, program);
	n = append(line, n, sizeof line, ": ");
	n = append(line, n, sizeof line, name);
	n = append(line, n, sizeof line, ": became shorter while in use");
	line[n++] = '\n';
	if (write(2, line, n) < 0)
		_exit(1);
	_exit(1);
}

void guard_arm(const char *name)
{
	struct sigaction action = { .sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO };

	strncpy(program, name, sizeof program - 1);
	sigemptyset(&action.sa_mask);
	sigaction(SIGBUS, &action, NULL);
}

void guard_add(const void *p, size_t n, const char *name)
{
	for (struct mapping *m = mappings; m < mappings + MAPPINGS; m++)
		if (!m->end) {
			strncpy(m->name, name, NAME - 1);
			m->start = (uintptr_t)p;
			m->end = m->start + n;
			return;
		}
}

void guard_remove(const void *p)
{
	for (struct mapping *m = mappings; m < mappings + MAPPINGS; m++)
		if (m->end && m->start == (uintptr_t)p)
			m->start = m->end = 0;
}
