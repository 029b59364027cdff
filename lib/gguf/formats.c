#include "formats.h"

#include "blocks.h"

#define FLOAT_ROW(id, NAME, name, bytes) { id, #NAME, 1, bytes, 0, 0, 0, 0, NULL, widen_##name },
#define QUANTISED_ROW(id, NAME, name, block, low, high, scales, minima) \
	{ id, #NAME, block, sizeof(struct name), low, high, scales, minima, read_##name, NULL },
static const struct format formats[] = { FORMATS_FLOAT(FLOAT_ROW) FORMATS_QUANTISED(QUANTISED_ROW) };

#define CHECK_ROW(id, NAME, name, block, low, high, scales, minima) \
	_Static_assert((id) < FORMAT_LIMIT && (block) % 32 == 0 && (block) <= FORMAT_BLOCK_MOST && (low) >= -128 && \
		(high) <= 127, #NAME);
FORMATS_QUANTISED(CHECK_ROW)

/* The types without a row: known by name and size only. */
static const struct layout {
	uint32_t id;
	const char *name;
	size_t block, bytes;
} layouts[] = {
	{ 9, "Q8_1", 32, 36 }, { 15, "Q8_K", 256, 292 },
	{ 24, "I8", 1, 1 }, { 25, "I16", 1, 2 }, { 26, "I32", 1, 4 }, { 27, "I64", 1, 8 }, { 28, "F64", 1, 8 },
};

const struct format *format_each(size_t i)
{
	return i < sizeof formats / sizeof *formats ? &formats[i] : NULL;
}

const struct format *format_of(uint32_t id)
{
	const struct format *f;

	for (size_t i = 0; (f = format_each(i)); i++)
		if (f->id == id)
			return f;
	return NULL;
}

const char *format_layout(uint32_t id, size_t *block, size_t *bytes)
{
	const struct format *f = format_of(id);

	if (f) {
		*block = f->block;
		*bytes = f->bytes;
		return f->name;
	}
	for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
		if (layouts[i].id == id) {
			*block = layouts[i].block;
			*bytes = layouts[i].bytes;
			return layouts[i].name;
		}
	*block = *bytes = 0;
	return NULL;
}

enum { RUN = 16 };      /* elements that share a scale in every format */

/* The elements of a block, by runs of a constant length, which compilers make vectors of. */
static void widen_block(const struct format *f, const struct block_values *v, float *y)
{
	for (size_t at = 0, each = 32 / (size_t)f->scales; at < f->block; at += RUN) {
		float scale = v->scale[at / each], min = f->minima ? v->min[at / each] : 0;

		for (size_t i = 0; i < RUN; i++)
			y[at + i] = scale * (float)v->code[at + i];
		for (size_t i = 0; i < RUN && f->minima; i++)
			y[at + i] += min;
	}
}

void format_dequantise(const struct format *f, const void *blocks, float *y, size_t n)
{
	const unsigned char *p = blocks;
	struct block_values v;

	for (; n; n -= f->block, y += f->block, p += f->bytes) {
		if (f->widen) {
			*y = f->widen(p);
			continue;
		}
		f->read(p, &v);
		widen_block(f, &v, y);
	}
}
