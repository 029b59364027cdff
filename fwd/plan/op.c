/* What ops of several kinds share. */
#include "op.h"

#include "fwd/kernels/exp.h"
#include "lib/base/size.h"

size_t op_each_row(const struct op *op, const struct step *s)
{
	return s->n;
}

size_t op_channel_items(const struct step *s, size_t n)
{
	return s->n_runs * size_divide_up(n, CHANNELS_EACH);
}

struct run_channels op_channels(const struct step *s, size_t n, size_t item)
{
	size_t each = size_divide_up(n, CHANNELS_EACH), at = item % each * CHANNELS_EACH;

	return (struct run_channels){ &s->run[item / each], at, size_min(CHANNELS_EACH, n - at) };
}

struct batch_row step_row(const struct op *op, const struct step *s, size_t i)
{
	const struct run *low = s->run, *high = s->run + s->n_runs, *r;
	size_t row;

	while (high - low > 1) {
		r = low + (high - low) / 2;
		*((op->wanted ? r->first_wanted : r->first) <= i ? &low : &high) = r;
	}
	row = op->wanted ? low->first + low->n - low->after - low->wanted + i - low->first_wanted : i;
	return (struct batch_row){ .run = low, .row = row, .pos = low->pos + row - low->first };
}

int step_has_adapter(const struct step *s, size_t adapter)
{
	for (size_t i = 0; i < s->n_runs; i++)
		if (lora_applies(&s->run[i].state->lora[adapter]))
			return 1;
	return 0;
}

void op_softmax(float *p, size_t n)
{
	float most = p[0], sum = 0;

	for (size_t i = 1; i < n; i++)
		most = p[i] > most ? p[i] : most;
	for (size_t i = 0; i < n; i++)
		sum += p[i] = exp_of(p[i] - most);
	for (size_t i = 0; i < n; i++)
		p[i] /= sum;
}
