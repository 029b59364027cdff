/* prompt: products with many columns. Rows of weights are unpacked into panels in the cache (panel.h,
 * float_panel.h), which are then multiplied with all tiles of columns (tiles.h). */
#include "bf16_panel.h"
#include "float_panel.h"
#include "panel_kernel.h"
#include "product.h"

size_t product_many_scratch(size_t k)
{
	size_t codes = panel_bytes(k) + pending_bytes(panel_splits(k / 32, TILE_I16));
	size_t floats = float_panel_floats(k) * sizeof(float) + pending_bytes(splits_of(k, FLOAT_SPLIT));

	return size_max(codes, size_max(floats, bf16_scratch(k)));
}

static void multiply_floats(const struct product_job *j, panel_filler *fill)
{
	size_t k = j->w->cols;
	struct panel p = { .data = j->scratch };
	struct tiling d = { .job = j, .splits = splits_of(k, FLOAT_SPLIT),
		.pending = (float *)j->scratch + float_panel_floats(k) };

	residue_places(k, p.first);
	run_panels(&d, &p, fill, k == 16 ? short_kernel : float_kernel, FLOAT_COLUMNS);
}

static void multiply_codes(const struct product_job *j)
{
	const struct format *f = j->w->format;
	struct panel p = { .data = j->scratch, .blocks = j->w->cols / 32, .i16 = acts_in_i16(j->x->kind),
		.planes = (int)acts_tile_planes(j->x->kind) };
	struct tiling d = { .job = j, .splits = panel_splits(p.blocks, p.i16),
		.pending = (float *)(p.data + panel_bytes(j->w->cols)) };
	struct code_panel type = code_panel_of(f, p.planes);

	p.bias = type.bias;
	p.block = panel_block(p.i16, f->scales, f->minima);
	residue_places(p.blocks, p.first);
	run_panels(&d, &p, fill_codes, type.kernel, STRIP_COLUMNS);
}

/* ---- any format ---- */

#define FILL_FLOATS(id, NAME, name, bytes) \
	static void fill_##name(struct panel *p, const struct matrix *w, size_t r, size_t r1) \
	{ \
		fill_floats(floats_##name, bytes, p, w, r, r1); \
	}
FORMATS_FLOAT(FILL_FLOATS)

void product_many(const struct product_job *j)
{
#define ENTRY(id, NAME, name, ...) [id] = fill_##name,
	static panel_filler *const fill[FORMAT_LIMIT] = { FORMATS_FLOAT(ENTRY) };
	const struct format *f = j->w->format;

	if (j->x->kind == ACTS_F32)
		multiply_floats(j, f->widen ? fill[f->id] : fill_widened);
	else
		multiply_codes(j);
}
