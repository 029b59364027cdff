/* Opens each model as gguf --check does. */
#include "found.h"

#include <inttypes.h>
#include <string.h>

#include "lib/base/json.h"
#include "lib/base/members.h"
#include "lib/base/out.h"
#include "lib/base/size.h"
#include "lib/gguf/formats.h"
#include "lib/gguf/gguf.h"
#include "lib/gguf/models.h"
#include "check.h"

enum { NAME_MOST = 60 };

/* The name of the type that most bytes of weights have. */
static const char *main_type(const struct gguf *g)
{
	uint64_t bytes[FORMAT_LIMIT] = { 0 };
	const struct format *f;
	uint32_t most = 0;

	for (uint64_t i = 0; i < g->n_tensors; i++)
		if (g->tensors[i].type < FORMAT_LIMIT)
			bytes[g->tensors[i].type] += g->tensors[i].bytes;
	for (uint32_t i = 0; i < FORMAT_LIMIT; i++)
		most = bytes[i] > bytes[most] ? i : most;
	f = bytes[most] ? format_of(most) : NULL;
	return f ? f->name : "-";
}

static void print_object(const struct model_file *m, struct gguf_string arch, const char *type, const struct check *c)
{
	struct json_writer j = json_to_out();

	json_open(&j, '{');
	member_text(&j, "name", m->name);
	member_text(&j, "path", m->path);
	member_int(&j, "bytes", (int64_t)m->bytes);
	member_bytes(&j, "architecture", arch.s, arch.n);
	member_text(&j, "type", type);
	member_flag(&j, "runs", !c->n);
	if (c->n)
		member_text(&j, "fault", c->first);
	json_close(&j, '}');
	out_char('\n');
}

static void print_one(const struct model_file *m, int width, int json)
{
	struct check c = check_file(m->path, 1);
	struct why ignored;
	struct gguf *g = gguf_open(m->path, 1, &ignored);
	struct gguf_string arch = { "-", 1 };
	const char *type = g ? main_type(g) : "-";
	int n = (int)size_min(strlen(m->name), NAME_MOST);

	if (g)
		gguf_text(g, "general.architecture", &arch, &ignored);
	if (json)
		print_object(m, arch, type, &c);
	else {
		/* a file may be called anything: a name must not break the row, or reach the terminal as a command */
		out_quoted(m->name, strlen(m->name), '\\');
		out_print("%*s %8.1f MB  %-12.*s  %-7s  %s\n", width > n ? width - n : 0, "", (double)m->bytes / 1e6,
			GGUF_SHOWN(arch), type, c.n ? c.first : "runs");
	}
	gguf_close(g);
}

int found_list(const char *name, int json, struct why *w)
{
	struct models m;
	size_t width = 0;
	int any;

	if (models_find(name, &m, w))
		return -1;
	for (size_t i = 0; i < m.n; i++)
		width = size_max(width, strlen(m.at[i].name));
	for (size_t i = 0; i < m.n; i++)
		print_one(&m.at[i], (int)size_min(width, NAME_MOST), json);
	any = m.n > 0;
	models_free(&m);
	if (!any && name)
		return why(w, "%s: no model of this name is found", name);
	return any ? 0 : why(w, "no models are found: set $LMPIPE_MODELS to the folders that hold them");
}
