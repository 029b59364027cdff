/* Keys "ssm.*". */
#include "ssm.h"

#include "fwd/model/keys.h"
#include "fwd/state/segment.h"

enum { INNER_MAX = 1 << 20 };   /* for the same reasons as SSM_STATE_MAX */

struct ssm *ssm_of(struct model *m)
{
	static const char owner;

	return model_own(m, &owner, sizeof(struct ssm));
}

int ssm_read(struct model *m, struct why *w)
{
	struct ssm *s = ssm_of(m);

	return key_required(m, "ssm.conv_kernel", 1, STATE_CHUNK, &s->taps, w) < 0
		|| key_required(m, "ssm.inner_size", 1, INNER_MAX, &s->inner, w) < 0
		|| key_required(m, "ssm.state_size", 1, SSM_STATE_MAX, &s->state, w) < 0
		|| key_required(m, "ssm.time_step_rank", 1, RANK_MAX, &s->rank, w) < 0 ? -1 : 0;
}

int ssm_read_heads(struct model *m, int groups, struct why *w)
{
	struct ssm *s = ssm_of(m);

	s->groups = 1;
	if (ssm_read(m, w) < 0 || (groups && key_required(m, "ssm.group_count", 1, RANK_MAX, &s->groups, w) < 0))
		return -1;
	if (s->rank % s->groups)
		return why(w, "%s: %zu does not divide the %zu heads", key_name(m, "ssm.group_count").s, s->groups,
			s->rank);
	if (s->inner % s->rank)
		return why(w, "%s: %zu does not divide %zu", key_name(m, "ssm.time_step_rank").s, s->rank, s->inner);
	return 0;
}
