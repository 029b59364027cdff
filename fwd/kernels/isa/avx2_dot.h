/* avx2_dot: the dot products of avx2.h, which includes this file: products of 64 codes with 64 activations, and the
 * tree that adds them up by blocks. The speed depends on the number of vector instructions, whatever their kind: an
 * AMD core runs 2.5 to 2.9 of them per cycle, out of four that it could issue. */
#ifndef AVX2_DOT_H
#define AVX2_DOT_H

/* Sums of two products each. They fit in 16 bits, as no code is above 128. */
static inline __m256i vd_pairs(__m256i w, __m256i x) { return _mm256_maddubs_epi16(w, x); }
static inline __m256i vd_pairs_signed(__m256i w, __m256i x)
{
	return _mm256_maddubs_epi16(_mm256_abs_epi8(w), _mm256_sign_epi8(x, w));
}
static inline __m256i vd_widen(__m256i pairs) { return _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)); }

/* Does the sum of this many products fit in 16 bits, with codes up to top? */
static inline int vd_fit(int top, int products) { return top * products * 127 < 32768; }

/* Products of codes in [0, top] with activations in [-127, 127]: 32 sums of two products each if sums of four fit in
 * 16 bits, so that they can be added before they are widened; otherwise 16 sums of four. */
static inline __m256i vd_dot_32(__m256i w, __m256i x, int top)
{
	__m256i pairs = vd_pairs(w, x);

	return vd_fit(top, 4) ? pairs : vd_widen(pairs);
}

static inline i32x16 vd_dot(b64 w, b64 x, int top) { return vi_of(vd_dot_32(w.a, x.a, top), vd_dot_32(w.b, x.b, top)); }

/* The same for codes in [-128, 127], to each of which SIGNED_BIAS is added: always 16 sums of four products. */
static inline i32x16 vd_dot_signed(b64 w, b64 x)
{
	return vi_of(vd_widen(vd_pairs_signed(w.a, x.a)), vd_widen(vd_pairs_signed(w.b, x.b)));
}

/* Forces v to be computed here, in a register. Otherwise the compiler postpones sums and spills their operands. */
static inline __m256i vd_settled(__m256i v)
{
	__asm__ volatile("" : "+x"(v));
	return v;
}

static inline i32x16 vi_settled(i32x16 v) { return vi_of(vd_settled(v.a), vd_settled(v.b)); }

static inline __m256i vd_add(__m256i a, __m256i b, int i16)
{
	return i16 ? _mm256_add_epi16(a, b) : _mm256_add_epi32(a, b);
}

/* Within each 128 bits: the two halves of a added, then the two halves of b; elements are int16 if i16, else int32. */
static inline __m256i vd_add_halves(__m256i a, __m256i b, int i16)
{
	__m256i inner = _mm256_castpd_si256(_mm256_shuffle_pd(_mm256_castsi256_pd(a), _mm256_castsi256_pd(b), 5));

	return vd_settled(vd_add(_mm256_blend_epi32(a, b, 0xcc), inner, i16));
}

/* Within each 128 bits: neighbouring groups of 32 bits added, two sums of a, then two of b. vphaddd does the same, but
 * at half the rate on AMD. */
static inline __m256i vd_add_neighbours(__m256i a, __m256i b, int i16)
{
	__m256 x = _mm256_castsi256_ps(a), y = _mm256_castsi256_ps(b);

	return vd_settled(vd_add(_mm256_castps_si256(_mm256_shuffle_ps(x, y, 0x88)),
	                         _mm256_castps_si256(_mm256_shuffle_ps(x, y, 0xdd)), i16));
}

/* One level of the tree, from products of codes up to top: two vectors into one; below, two such results into one. */
static inline __m256i vd_fold_two(__m256i a, __m256i b, int top)
{
	__m256i sum = vd_add_halves(a, b, vd_fit(top, 4));

	return vd_fit(top, 4) && !vd_fit(top, 8) ? vd_widen(sum) : sum;
}

static inline __m256i vd_fold_four(__m256i a, __m256i b, int top)
{
	__m256i sum = vd_add_neighbours(a, b, vd_fit(top, 8));

	return vd_fit(top, 8) ? vd_widen(sum) : sum;
}

/* Vectors up to v[c], of two blocks each, added up: v[0] and v[4] come to hold the sums of four vectors. */
INLINE void vd_fold_halves(i32x16 v[8], int c, int top)
{
	if (c % 2)
		v[c - 1] = vi_of(vd_fold_two(v[c - 1].a, v[c].a, top), vd_fold_two(v[c - 1].b, v[c].b, top));
	if (c % 4 == 3)
		v[c - 3] = vi_of(vd_fold_four(v[c - 3].a, v[c - 1].a, top), vd_fold_four(v[c - 3].b, v[c - 1].b, top));
}

/* even and odd hold the sums of the first and second halves of the even and of the odd blocks. Sorts them into the
 * first halves of all and the second halves of all. */
static inline void vd_part(__m256i even, __m256i odd, __m256i *first, __m256i *second)
{
	__m256i inner = _mm256_permute2x128_si256(even, odd, 0x21);

	*first = _mm256_blend_epi32(even, inner, 0xf0);
	*second = _mm256_blend_epi32(inner, odd, 0xf0);
}

/* The last level of the tree: the sums of the blocks' first and of their second halves, in lane order. */
INLINE void vd_half_sums(const i32x16 v[8], int top, i32x16 *first, i32x16 *second)
{
	vd_part(v[0].a, v[0].b, &first->a, &second->a);
	vd_part(v[4].a, v[4].b, &first->b, &second->b);
}

/* Sums of four products of codes in [0, 15], as int16. */
static inline i32x16 vd_dot_two(b64 w, b64 x, b64 w2, b64 x2)
{
	return vi_of(_mm256_add_epi16(vd_pairs(w.a, x.a), vd_pairs(w2.a, x2.a)),
	             _mm256_add_epi16(vd_pairs(w.b, x.b), vd_pairs(w2.b, x2.b)));
}

/* Adds vectors of quarters as far as v[c]: in the end v[0].a and v[2].a each hold the sums of two vectors. */
INLINE void vd_fold_quarters(i32x16 v[4], int c)
{
	v[c].a = vd_add_halves(v[c].a, v[c].b, 1);
	if (c % 2)
		v[c - 1].a = vd_widen(vd_add_neighbours(v[c - 1].a, v[c].a, 1));
}

/* The last level: the sums of the blocks, in lane order. */
INLINE i32x16 vd_quarter_sums(const i32x16 v[4], int top)
{
	/* the sums arrive in the order of blocks 0, 4, 1, 5, then 2, 6, 3, 7 */
	const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);

	return vi_of(_mm256_permutevar8x32_epi32(v[0].a, order), _mm256_permutevar8x32_epi32(v[2].a, order));
}

INLINE __m256i vd_eight(struct eights_shape s, __m256i w, __m256i x, const int8_t *magnitudes)
{
	return s.is_signed ? vd_widen(vd_pairs(vb_32(magnitudes), _mm256_sign_epi8(w, x))) : vd_pairs(w, x);
}

/* Products are added up in 16 bits as long as they fit: always those of a vector, if codes are not signed. */
INLINE i32x8 vd_eights(struct eights_shape s, b64 w, b64 x, const int8_t *magnitudes)
{
	__m256i v = vd_settled(vd_eight(s, w.a, x.a, magnitudes));

	return vd_settled(vd_add(v, vd_eight(s, w.b, x.b, magnitudes + 32), !s.is_signed));
}

INLINE void vd_eight_sums(struct eights_shape s, const i32x8 *v, int four, i32x16 *sum)
{
	int i16 = !s.is_signed && vd_fit(s.top, 4 * s.vectors), deep = i16 && vd_fit(s.top, 8 * s.vectors);
	__m256i *to = four / 2 ? &sum->b : &sum->a, t = v[0], u = v[1];

	if (s.vectors == 2) {
		if (!s.is_signed && !i16)
			t = vd_widen(t), u = vd_widen(u);
		t = vd_settled(vd_add(t, u, i16));
	}
	if (i16 && !deep)
		t = vd_widen(t);
	if (four % 2)
		t = vd_add_neighbours(*to, t, deep);
	*to = four % 2 && deep ? vd_widen(t) : t;
}

/* Products are added up in 16 bits as long as they fit; eight lanes at a time. */
INLINE void vd_columns(struct column_shape s, struct column_ahead a, i32x16 (*sum)[COLUMNS_SIDE], const b64 *w,
                       const int8_t *x)
{
	int deep = s.is_signed ? 1 : vd_fit(s.top, 16) ? 8 : vd_fit(s.top, 8) ? 4 : vd_fit(s.top, 4) ? 2 : 1;

	UNROLL
	for (int upper = 0; upper < 2; upper++, x += 32) {
		__m256i total[COLUMNS_SIDE], pairs[COLUMNS_SIDE];

		UNROLL
		for (int k = 0; k < s.quads; k++) {
			__m256i codes = upper ? w[k].b : w[k].a;

			UNROLL
			for (int c = 0; c < s.columns; c++) {
				__m256i q = vb_32(x + (size_t)c * s.step + 64 * k);
				__m256i two = s.is_signed ? vd_pairs_signed(codes, q) : vd_pairs(codes, q);

				pairs[c] = vd_settled(k % deep ? _mm256_add_epi16(pairs[c], two) : two);
				if (k % deep == deep - 1 || k == s.quads - 1)
					total[c] = k < deep ? vd_widen(pairs[c])
					        : vd_settled(_mm256_add_epi32(total[c], vd_widen(pairs[c])));
			}
		}
		UNROLL
		for (int c = 0; c < s.columns; c++)
			if (upper)
				sum[0][c].b = _mm256_add_epi32(sum[0][c].b, total[c]);
			else
				sum[0][c].a = _mm256_add_epi32(sum[0][c].a, total[c]);
	}
}

/* The sum of sixteen accumulators, in lane order, by the closing tree. */
static inline float vd_close(f32x16 v)
{
	return x86_close(_mm256_add_ps(v.a, v.b));
}

INLINE void vd_close_eight(const f32x16 *v, size_t step, float y[8])
{
	__m256 w[8];

	UNROLL
	for (size_t i = 0; i < 8; i++)
		w[i] = _mm256_add_ps(v[i * step].a, v[i * step].b);
	x86_close_eight(w, y);
}

#endif
