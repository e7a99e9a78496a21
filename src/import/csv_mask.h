/* Where a delimiter, a line end or a quote is in 64 bytes of text: bit i for byte i. This is
 * what makes the CSV reader fast; docs/adr/0003-own-csv-reader.md has the numbers. */
#ifndef PR_CSV_MASK_H
#define PR_CSV_MASK_H

#include <stdint.h>

enum { PR_CSV_BLOCK = 64 };

static inline uint64_t pr_csv_mask_plain(const char *text, char delimiter)
{
    uint64_t mask = 0;
    for (unsigned i = 0; i < PR_CSV_BLOCK; i++) {
        char c = text[i];
        mask |= (uint64_t)(c == delimiter || c == '\n' || c == '"') << i;
    }
    return mask;
}

#ifdef __SSE2__
#include <emmintrin.h>

static inline uint64_t pr_csv_mask(const char *text, char delimiter)
{
    const __m128i d = _mm_set1_epi8(delimiter), n = _mm_set1_epi8('\n'), q = _mm_set1_epi8('"');
    uint64_t mask = 0;
    for (unsigned i = 0; i < PR_CSV_BLOCK; i += 16) {
        __m128i t = _mm_loadu_si128((const __m128i *)(const void *)(text + i));
        __m128i hit = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(t, d), _mm_cmpeq_epi8(t, n)),
                                   _mm_cmpeq_epi8(t, q));
        mask |= (uint64_t)(unsigned)_mm_movemask_epi8(hit) << i;
    }
    return mask;
}
#else
static inline uint64_t pr_csv_mask(const char *text, char delimiter)
{
    return pr_csv_mask_plain(text, delimiter);
}
#endif

#endif
