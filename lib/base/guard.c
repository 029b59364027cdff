/* guard: the signal handlers, and the table of mappings that the SIGBUS handler reads. An entry is only changed while
 * no thread touches its mapping, so the handler, on whatever thread it runs, sees complete entries. */
#include "guard.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MAPPINGS = 64, NAME = 256, HANDLER_STACK = 1 << 16 };

static struct mapping {
	uintptr_t start, end;   /* end 0: a free entry */
	char name[NAME];
} mappings[MAPPINGS];

static char program[64];
static uintptr_t stack_top, stack_end;  /* the range in which a fault is a stack overflow: what the limit allows, and
					 * some more below */
static struct sigaction older;          /* a sanitizer's handler, for example */

static size_t append(char *line, size_t at, size_t room, const char *s)
{
	for (; *s && at + 2 < room; s++)
		line[at++] = (unsigned char)*s < ' ' || *s == 127 ? '?' : *s;
	return at;
}

static _Noreturn void die(const char *object, const char *cause)
{
	static atomic_flag dying = ATOMIC_FLAG_INIT;
	char line[NAME + 128];
	size_t n;

	/* several threads may meet the same fault; a second one of this thread is blocked, and so ends the process */
	while (atomic_flag_test_and_set(&dying))
		pause();
	n = append(line, 0, sizeof line, program);
	n = append(line, n, sizeof line, object);
	n = append(line, n, sizeof line, cause);
	line[n++] = '\n';
	if (write(2, line, n) < 0)
		_exit(1);
	_exit(1);
}

static void on_sigbus(int signal, siginfo_t *info, void *context)
{
	uintptr_t where = (uintptr_t)info->si_addr;
	const char *name = "a mapped file";

	for (int i = 0; i < MAPPINGS; i++)
		if (where >= mappings[i].start && where < mappings[i].end)
			name = mappings[i].name;
	die(name, ": became shorter while in use");
}

static void on_sigsegv(int signal, siginfo_t *info, void *context)
{
	uintptr_t where = (uintptr_t)info->si_addr;

	if (where >= stack_end && where < stack_top)
		die("the stack is too small", ": raise its limit (ulimit -s)");
	sigaction(SIGSEGV, &older, NULL);
	raise(signal);  /* waits until we return; a fault would come again anyway, a kill(2) would not */
}

static void name_program(const char *name)
{
	size_t n = append(program, 0, sizeof program - 2, name);

	memcpy(program + n, ": ", 3);
}

void guard_stack(const char *name)
{
	static char handler_stack[HANDLER_STACK];
	const stack_t own = { .ss_sp = handler_stack, .ss_size = sizeof handler_stack };
	struct sigaction action = { .sa_sigaction = on_sigsegv, .sa_flags = SA_SIGINFO | SA_ONSTACK };
	struct rlimit limit;

	if (getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur == RLIM_INFINITY
		|| limit.rlim_cur >= (uintptr_t)&limit / 2)
		return;
	stack_top = (uintptr_t)&limit;
	stack_end = stack_top - (uintptr_t)limit.rlim_cur - (1 << 20);
	name_program(name);
	sigemptyset(&action.sa_mask);
	sigaddset(&action.sa_mask, SIGBUS);
	if (!sigaltstack(&own, NULL))
		sigaction(SIGSEGV, &action, &older);
}

void guard_arm(const char *name)
{
	struct sigaction action = { .sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO };

	name_program(name);
	sigemptyset(&action.sa_mask);
	sigaddset(&action.sa_mask, SIGSEGV);
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
