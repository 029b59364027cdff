/* x86: what avx2.h and avx512.h share. */
#ifndef X86_H
#define X86_H

#include <immintrin.h>
#include <stdint.h>

static inline b16 vb_16(const void *p) { return _mm_loadu_si128(p); }
static inline b16 vb_two(uint64_t a, uint64_t b) { return _mm_set_epi64x((long long)b, (long long)a); }

/* Unpacks the six-bit scales and minima of two super-blocks of Q4_K or Q5_K (lib/gguf/blocks.h), at p and q. Returns
 * the eight scales of p in lane order, its eight minima, then those of q. For blocks 0 to 3 they are the low six bits
 * of bytes 0 to 3 (scales) and 4 to 7 (minima). For blocks 4 to 7 the low four bits are the nibbles of bytes 8 to 11
 * and the upper two are the top bits of bytes 0 to 7. Reads 16 bytes at each, four more than there are. */
static inline __m256i x86_six_bits(const uint8_t *p, const uint8_t *q)
{
	const __m256i low = _mm256_broadcastsi128_si256(
	        _mm_setr_epi8(0, 2, 8, 10, 1, 3, 9, 11, 4, 6, 8, 10, 5, 7, 9, 11));
	const __m256i high = _mm256_broadcastsi128_si256(
	        _mm_setr_epi8(-1, -1, 0, 2, -1, -1, 1, 3, -1, -1, 4, 6, -1, -1, 5, 7));
	const __m256i six_or_low = _mm256_setr_epi32(0x0f0f3f3f, 0x0f0f3f3f, 0x00003f3f, 0x00003f3f, 0x0f0f3f3f,
	                                             0x0f0f3f3f, 0x00003f3f, 0x00003f3f);
	const __m256i or_high = _mm256_setr_epi32(0, 0, 0x0f0f0000, 0x0f0f0000, 0, 0, 0x0f0f0000, 0x0f0f0000);
	__m256i v = _mm256_inserti128_si256(_mm256_castsi128_si256(vb_16(p)), vb_16(q), 1),
	        at = _mm256_shuffle_epi8(v, low);
	__m256i above = _mm256_and_si256(_mm256_srli_epi16(_mm256_shuffle_epi8(v, high), 2), _mm256_set1_epi8(0x30));

	at = _mm256_or_si256(_mm256_and_si256(at, six_or_low), _mm256_and_si256(_mm256_srli_epi16(at, 4), or_high));
	return _mm256_or_si256(at, above);
}

/* The rest of the closing tree: w holds lanes 0 2 4 6, then 1 3 5 7, each already added to the lane 8 places on. */
static inline float x86_close(__m256 w)
{
	w = _mm256_add_ps(w, _mm256_permute_ps(w, 0x4e));
	w = _mm256_add_ps(w, _mm256_movehdup_ps(w));
	return _mm_cvtss_f32(_mm_add_ss(_mm256_castps256_ps128(w), _mm256_extractf128_ps(w, 1)));
}

#endif
