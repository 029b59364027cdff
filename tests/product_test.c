/* product_test: every table of kernels against the scalar one, bit for bit, over formats, shapes and batches; the
 * scalar one against the dequantisers in double precision; the halves' conversions; and what hostile bits do. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fwd/kernels/kernels.h"
#include "lib/base/half.h"
#include "check.h"
#include "random.h"

static void holds(int ok, const char *what, const char *kernels, const char *format, size_t k, size_t rows, size_t n)
{
	check(ok, "product: %s: %s %s k %zu rows %zu n %zu", what, kernels, format, k, rows, n);
}

static float random_float(void)
{
	return (float)(int32_t)random_bits() * 0x1p-31f;
}

static void *allocate(size_t bytes)
{
	void *p = aligned_alloc(64, (bytes + 63) / 64 * 64 + 64);

	if (!p)
		exit(1);
	return p;
}

/* ---- weights ---- */

/* Random bytes; sane ones have values of ordinary size. */
static void random_block(const struct format *f, unsigned char *p, int hostile)
{
	float y[FORMAT_BLOCK_MOST], largest;

	do {
		largest = 0;
		for (size_t i = 0; i < f->bytes; i++)
			p[i] = (unsigned char)(random_bits() >> 24);
		if (hostile)
			return;
		format_dequantise(f, p, y, f->block);
		for (size_t i = 0; i < f->block; i++)
			largest = isfinite(y[i]) ? fmaxf(largest, fabsf(y[i])) : INFINITY;
	} while (!(largest > 0x1p-12f && largest < 1));
}

/* Memory between two pages that cannot be accessed: every other time it begins after the first, otherwise it ends
 * before the second, so that reading past either end is a fault. */
static unsigned char *allocate_guarded(size_t bytes)
{
	static int at_start;
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = (bytes + page - 1) / page * page;
	unsigned char *p = aligned_alloc(page, whole + 2 * page);

	if (!p || mprotect(p, page, PROT_NONE) || mprotect(p + page + whole, page, PROT_NONE))
		exit(1);
	at_start = !at_start;
	return p + page + (at_start ? 0 : whole - bytes);
}

static void free_guarded(unsigned char *data, size_t bytes)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = (bytes + page - 1) / page * page;
	unsigned char *p = data - (uintptr_t)data % page - page;

	if (mprotect(p, page, PROT_READ | PROT_WRITE) || mprotect(p + page + whole, page, PROT_READ | PROT_WRITE))
		exit(1);
	free(p);
}

static struct matrix random_matrix(const struct format *f, size_t k, size_t rows, int hostile)
{
	struct matrix w = { .format = f, .rows = rows, .cols = k, .row_bytes = k / f->block * f->bytes };
	unsigned char *p = allocate_guarded(rows * w.row_bytes);

	for (size_t i = 0; i < rows * w.row_bytes; i += f->bytes)
		random_block(f, p + i, hostile);
	w.data = p;
	return w;
}

/* ---- products ---- */

/* Packs x[n][k] in parts, as threads would share them, the last part first. */
static void pack(const struct kernels *t, struct acts *a, const float *x)
{
	size_t together = t->acts_together(a->kind, a->k, a->n);
	size_t length = a->k > 4 * ACTS_PART ? 2 * ACTS_PART : ACTS_PART;

	for (size_t c = 0; c < a->n; c += together)
		for (size_t i = (a->k + length - 1) / length; i-- > 0; )
			t->acts_pack(a, x + c * a->k, a->k, (struct acts_part){
				c, c + together < a->n ? c + together : a->n,
				i * length, (i + 1) * length < a->k ? (i + 1) * length : a->k });
}

enum precision { NARROW, WIDE, FLOATS };        /* of the activations of quantised weights */

/* y[n][rows], by one table, in row ranges as threads would take them; with one_stream, columns are packed for this
 * format alone. */
static void product(const struct kernels *t, enum acts_kind kind, const struct matrix *w, const float *x, size_t n,
                    int one_stream, float *y)
{
	struct acts a = { .kind = kind, .k = w->cols, .n = n,
		.formats = one_stream ? UINT64_C(1) << w->format->id : 0 };
	void *scratch = allocate(t->product_scratch(w->cols));
	size_t bytes = t->acts_bytes(a.kind, a.k, n);

	a.data = memset(allocate(bytes), 0x55, bytes);
	pack(t, &a, x);
	for (size_t r = 0; r < w->rows; r += 2 * KERNELS_ROWS) {
		size_t end = r + 2 * KERNELS_ROWS < w->rows ? r + 2 * KERNELS_ROWS : w->rows;
		struct product_job job = { .w = w, .x = &a, .r0 = r, .r1 = end, .y = y, .stride = w->rows,
			.scratch = scratch, .one_stream = one_stream };

		t->product(&job);
	}
	free(a.data);
	free(scratch);
}

/* The i-th kind of activations that a table takes with this format, or ACTS_KINDS past the last: the one that it
 * chooses, then those that it would choose on other CPUs. */
static enum acts_kind kind_of(const struct kernels *t, const struct format *f, enum precision precision, size_t i)
{
	enum acts_kind chosen = precision == FLOATS ? ACTS_F32 : t->acts_kind(f, precision == WIDE);

	if (i == 0)
		return chosen;
	for (int kind = ACTS_BF16; f->id == FORMAT_BF16 && precision != FLOATS && kind < ACTS_KINDS; kind++)
		if ((enum acts_kind)kind != chosen && t->takes((enum acts_kind)kind) && --i == 0)
			return (enum acts_kind)kind;
	return ACTS_KINDS;
}

static int same(const float *a, const float *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (memcmp(&a[i], &b[i], sizeof *a) != 0 && !(isnan(a[i]) && isnan(b[i])))
			return 0;
	return 1;
}

/* Against double precision: each activation may be off by half a step of its block, at most max/120 apart (or 1/32512
 * of it), or with BF16 by half a unit of eight bits, and floats round. */
static int close_to_exact(const struct matrix *w, const float *x, size_t n, enum precision precision,
                          const float *y)
{
	float *row = allocate(w->cols * sizeof *row);
	double step = w->format->block == 1 || precision == FLOATS ? 0 : precision == WIDE ? 1 / 32512.0 : 1 / 120.0;
	double relative = w->format->id == FORMAT_BF16 && precision != FLOATS ? 0x1p-8 : 0;
	int ok = 1;

	for (size_t r = 0; r < w->rows; r++) {
		format_dequantise(w->format, (const unsigned char *)w->data + r * w->row_bytes, row, w->cols);
		for (size_t c = 0; c < n; c++) {
			double sum = 0, tolerance = 1e-30, max = 0;

			for (size_t i = 0; i < w->cols; i++) {
				double v = x[c * w->cols + i];

				for (size_t j = i; i % 32 == 0 && j < w->cols && j < i + 32; j++)
					max = fabs(x[c * w->cols + j]) > max || j == i ? fabs(x[c * w->cols + j]) : max;
				sum += (double)row[i] * v;
				tolerance += fabs((double)row[i]) * (max * step * 0.51 + fabs(v) * (relative + 2e-6));
			}
			ok &= fabs(sum - (double)y[c * w->rows + r]) <= tolerance;
		}
	}
	free(row);
	return ok;
}

/* Every table against want[n][rows] of the scalar one, with every kind of activations; and each against itself, column
 * by column. */
static void compare_tables(const struct matrix *w, const float *x, size_t n, enum precision precision,
                           const float *want, const char *differs)
{
	const struct kernels *t;
	const char *format = w->format->name;
	size_t rows = w->rows, k = w->cols;
	float *got = allocate(n * rows * sizeof *got);
	enum acts_kind kind;

	for (size_t i = 0; (t = kernels_each(i)); i++)
		for (size_t j = 0; (kind = kind_of(t, w->format, precision, j)) < ACTS_KINDS; j++) {
			if (i > 0) {
				memset(got, 0xff, n * rows * sizeof *got);
				product(t, kind, w, x, n, 0, got);
				holds(same(want, got, n * rows), differs, t->name, format, k, rows, n);
			}
			if (i > 0 && n <= 2) {
				memset(got, 0xff, n * rows * sizeof *got);
				product(t, kind, w, x, n, 1, got);
				holds(same(want, got, n * rows), "one stream differs from scalar", t->name, format, k,
					rows, n);
			}
			if (n > 1 && n < 500) {
				for (size_t c = 0; c < n; c++)
					product(t, kind, w, x + c * k, 1, 1, got + c * rows);
				holds(same(want, got, n * rows), "columns alone differ from the batch", t->name, format,
					k, rows, n);
			}
		}
	free(got);
}

static void test_shape(const struct format *f, size_t k, size_t rows, size_t n, enum precision precision,
                       int hostile)
{
	struct matrix w;
	float *x, *want;

	if (!check_takes())
		return;
	w = random_matrix(f, k, rows, hostile);
	x = allocate(n * k * sizeof *x);
	want = allocate(n * rows * sizeof *x);
	for (size_t i = 0; i < n * k; i++) {
		x[i] = random_float() * (random_bits() % 50 == 0 ? 20 : 1);
		if (hostile && random_bits() % (20 * k) == 0) {
			uint32_t u = random_bits();

			memcpy(&x[i], &u, 4);
		}
	}
	memset(x, 0, 32 * sizeof *x);
	if (hostile && n > 1)
		x[k] = INFINITY, x[2 * k - 1] = NAN;
	product(kernels_each(0), kind_of(kernels_each(0), f, precision, 0), &w, x, n, 0, want);
	if (!hostile)
		holds(close_to_exact(&w, x, n, precision, want), "far from double precision", "scalar",
			w.format->name, k, rows, n);
	compare_tables(&w, x, n, precision, want, hostile ? "hostile bits: differs from scalar"
	                                                  : "differs from scalar");
	free_guarded((unsigned char *)(uintptr_t)w.data, w.rows * w.row_bytes);
	free(x);
	free(want);
}

/* BF16 weights and activations near the bounds below which they count as zero, and activations half-way between two
 * numbers of BF16. */
static void test_small(size_t k, size_t n)
{
	enum { ROWS = 40 };
	struct matrix w = random_matrix(format_of(FORMAT_BF16), k, ROWS, 1);
	uint16_t *weights = (uint16_t *)(uintptr_t)w.data;
	float *x = allocate(n * k * sizeof *x), *want = allocate(n * ROWS * sizeof *x);

	for (size_t i = 0; i < ROWS * k; i++)
		weights[i] = (uint16_t)((weights[i] & 0x807f) | (127 - 63 - 2 + random_bits() % 4) << 7);
	for (size_t i = 0; i < n * k; i++) {
		uint32_t u = (random_bits() & 0x807fffff) | (127 - 49 - 2 + random_bits() % 4) << 23;

		u = random_bits() % 4 ? u : (u & 0xffff0000) | (0x7fff + random_bits() % 3);
		memcpy(&x[i], &u, 4);
	}
	product(kernels_each(0), ACTS_BF16, &w, x, n, 0, want);
	for (size_t i = 0; i < n * ROWS; i++)
		holds(fpclassify(want[i]) == FP_NORMAL, "small numbers became zero", "scalar", "BF16", k, ROWS, n);
	compare_tables(&w, x, n, NARROW, want, "small numbers: differs from scalar");
	free_guarded((unsigned char *)(uintptr_t)w.data, w.rows * w.row_bytes);
	free(x);
	free(want);
}

/* ---- formats ---- */

static void test_halves(void)
{
	int ok = 1, rounds = 1;

	for (uint32_t h = 0; h < 65536; h++) {
		float f = f16_to_f32((uint16_t)h), magnitude = ldexpf((float)(h & 1023) + (h & 0x7c00 ? 1024 : 0),
			(int)((h & 0x7c00 ? h >> 10 & 31 : 1)) - 25);

		ok &= (h & 0x7c00) == 0x7c00 ? (h & 1023 ? isnan(f) : isinf(f)) : fabsf(f) == magnitude;
		ok &= isnan(f) || !signbit(f) == !(h >> 15);
		ok &= isnan(f) ? isnan(f16_to_f32(f32_to_f16(f))) : f32_to_f16(f) == h;
	}
	/* half-way to the next goes to the even one, a little more or less to the nearer */
	for (uint32_t h = 0; h < 0x7bff; h++) {
		float a = f16_to_f32((uint16_t)h), b = f16_to_f32((uint16_t)(h + 1)), middle = a + (b - a) / 2;

		rounds &= f32_to_f16(middle) == (h & 1 ? h + 1 : h)
			&& f32_to_f16(-middle) == ((h & 1 ? h + 1 : h) | 0x8000);
		rounds &= f32_to_f16(nextafterf(middle, 0)) == h && f32_to_f16(nextafterf(middle, INFINITY)) == h + 1;
	}
	holds(ok, "a half changed", "-", "F16", 0, 0, 0);
	holds(rounds, "a float rounded wrongly to a half", "-", "F16", 0, 0, 0);
	holds(f32_to_f16(65519) == 0x7bff && f32_to_f16(65520) == 0x7c00, "the largest half", "-", "F16", 0, 0, 0);
}

/* Names and sizes of a few types from GGUF's description. */
static void test_layouts(void)
{
	static const struct {
		uint32_t id;
		const char *name;
		size_t block, bytes;
	} want[] = { { 0, "F32", 1, 4 }, { 12, "Q4_K", 256, 144 }, { 14, "Q6_K", 256, 210 }, { 39, "MXFP4", 32, 17 },
		{ 30, "BF16", 1, 2 } };
	size_t block, bytes;

	for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
		const char *name = format_layout(want[i].id, &block, &bytes);

		holds(name && strcmp(name, want[i].name) == 0 && block == want[i].block && bytes == want[i].bytes,
			"layout", "-", want[i].name, 0, 0, 0);
	}
	for (uint32_t id = 0; id < 50; id++)
		if (id == 4 || id == 5 || (id > 30 && id < 34) || (id > 35 && id < 39) || id > 42)
			holds(!format_layout(id, &block, &bytes) && block == 0 && bytes == 0,
				"a retired id has a layout", "-", "?", id, 0, 0);
}

/* Room for n columns is room for fewer, too, whatever layout those have. */
static void test_room(const struct kernels *t)
{
	for (int i = 0; i < ACTS_KINDS; i++)
		for (size_t k = 32; k <= 4096; k *= 2)
			for (size_t n = 2; n < 40; n++)
				holds(t->acts_bytes((enum acts_kind)i, k, n)
					>= t->acts_bytes((enum acts_kind)i, k, n - 1), "less room for more columns",
					t->name, "acts", k, (size_t)i, n);
}

static void test_format(const struct format *f)
{
	static const size_t ks[] = { 32, 64, 96, 128, 256, 512, 576, 736, 768, 896, 2048 },
		ns[] = { 1, 2, 3, 5, 7, 9, 10, 16, 28, 33, 100 };

	for (size_t i = 0; i < sizeof ks / sizeof *ks; i++) {
		if (ks[i] % f->block != 0)
			continue;
		for (size_t j = 0; j < sizeof ns / sizeof *ns; j++) {
			size_t rows = ns[j] > 7 ? 33 : 77;

			if (ks[i] * ns[j] > 20000)      /* enough of it below, and the scalar table takes its time */
				continue;
			for (enum precision p = NARROW; p <= (f->block > 1 ? FLOATS : NARROW); p++)
				test_shape(f, ks[i], rows, ns[j], p, 0);
		}
		for (size_t j = 0; j < 5; j++)
			for (enum precision p = NARROW; p <= FLOATS; p++)
				test_shape(f, ks[i], 50, ns[j], p, 1);
	}
	/* rows that a prompt's kernels split into 2 and more parts */
	test_shape(f, 9472, 9, 7, NARROW, 0);
	test_shape(f, 16640, 5, 14, WIDE, 0);
	test_shape(f, 9472, 9, 100, FLOATS, 0);
	for (size_t k = 1; k < 50 && f->block == 1; k += 3) {
		test_shape(f, k, 35, 1, NARROW, 0);
		test_shape(f, k, 35, 6, NARROW, 0);
		test_shape(f, k, 35, 20, NARROW, 0);
		test_shape(f, k, 35, 41, NARROW, 0);
	}
}

int main(void)
{
	const struct kernels *t;
	const struct format *f;

	test_halves();
	test_layouts();
	for (size_t i = 0; (t = kernels_each(i)); i++)
		test_room(t);
	for (size_t i = 0; (f = format_each(i)); i++)
		test_format(f);
	test_shape(format_of(FORMAT_F16), 9472, 3, 530, NARROW, 0);
	test_shape(format_of(FORMAT_BF16), 9472, 3, 530, NARROW, 0);
	for (size_t k = 500; k < 1100; k += 77) {
		test_small(k, 1);
		test_small(k, 5);
		test_small(k, 70);
	}
	test_shape(format_of(FORMAT_Q8_0), 16640, 2, 530, NARROW, 0);
	return check_end("product");
}
