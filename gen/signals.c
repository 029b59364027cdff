#include "signals.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "gen/conversation/console.h"

static struct request *request;

static void on_signal(int sig)
{
	int before = errno, over = sig != SIGINT || !request->interactive || !console_interrupt();

	if (!over && console_ended())
		stages_kill(request->stage, STAGES);
	errno = before;
	if (!over)
		return;
	console_restore();
	stages_kill(request->stage, STAGES);
	while (wait(NULL) > 0 || errno == EINTR)
		;
	signal(sig, SIG_DFL);
	raise(sig);
}

void signals_take(struct request *q)
{
	/* otherwise the terminal's modes would outlive the program */
	static const int others[] = { SIGQUIT, SIGALRM, SIGUSR2, SIGVTALRM, SIGXCPU };
	struct sigaction act = { .sa_handler = on_signal };

	request = q;
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGHUP, &act, NULL);
	for (size_t i = 0; q->edited && i < sizeof others / sizeof *others; i++)
		sigaction(others[i], &act, NULL);
	signal(SIGPIPE, SIG_IGN);
	if (q->interactive)
		stages_block_interrupts();
}
