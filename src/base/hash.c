/* SipHash and MD5, for texts that are in memory as a whole. */
#include "base/hash.h"

#include <string.h>

/* ---- SipHash: two rounds per word of 8 bytes, four at the end, and four more for the second half of
 * the hash ---- */

typedef struct sip {
    uint64_t a, b, c, d;
} sip;

static uint64_t rotate(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

static void mix(sip *s, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        s->a += s->b;
        s->b = rotate(s->b, 13) ^ s->a;
        s->a = rotate(s->a, 32);
        s->c += s->d;
        s->d = rotate(s->d, 16) ^ s->c;
        s->a += s->d;
        s->d = rotate(s->d, 21) ^ s->a;
        s->c += s->b;
        s->b = rotate(s->b, 17) ^ s->c;
        s->c = rotate(s->c, 32);
    }
}

/* Numbers are little-endian on every machine. */
static uint64_t read_word(const uint8_t *bytes, size_t size)
{
    uint64_t word = 0;
    for (size_t i = 0; i < size; i++)
        word |= (uint64_t)bytes[i] << (8 * i);
    return word;
}

static void write_word(uint8_t *bytes, uint64_t word)
{
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(word >> (8 * i));
}

static void take_word(sip *s, uint64_t word)
{
    s->d ^= word;
    mix(s, 2);
    s->a ^= word;
}

void pr_siphash(uint8_t hash[PR_SIPHASH_BYTES], const uint8_t key[PR_SIPHASH_BYTES],
                const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    uint64_t first = read_word(key, 8), second = read_word(key + 8, 8);
    sip s = {first ^ UINT64_C(0x736f6d6570736575), second ^ UINT64_C(0x646f72616e646f6d) ^ 0xee,
             first ^ UINT64_C(0x6c7967656e657261), second ^ UINT64_C(0x7465646279746573)};
    size_t whole = size / 8 * 8;
    for (size_t i = 0; i < whole; i += 8)
        take_word(&s, read_word(at + i, 8));
    take_word(&s, (size > whole ? read_word(at + whole, size - whole) : 0) | (uint64_t)size << 56);
    s.c ^= 0xee;
    mix(&s, 4);
    write_word(hash, s.a ^ s.b ^ s.c ^ s.d);
    s.b ^= 0xdd;
    mix(&s, 4);
    write_word(hash + 8, s.a ^ s.b ^ s.c ^ s.d);
}

/* ---- MD5 as RFC 1321 defines it ---- */

enum { BLOCK = 64, LENGTH_BYTES = 8 };

/* The whole part of 2^32 |sin(i + 1)|. */
static const uint32_t sines[BLOCK] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};

static void add_block(uint32_t state[4], const unsigned char *block)
{
    static const unsigned char shifts[4][4] = {
        {7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
    uint32_t words[16], a = state[0], b = state[1], c = state[2], d = state[3];
    memcpy(words, block, sizeof words); /* little-endian, as every machine that we build for */
    for (unsigned i = 0; i < BLOCK; i++) {
        uint32_t mixed;
        unsigned word;
        switch (i / 16) {
        case 0:
            mixed = (b & c) | (~b & d);
            word = i;
            break;
        case 1:
            mixed = (d & b) | (~d & c);
            word = (5 * i + 1) % 16;
            break;
        case 2:
            mixed = b ^ c ^ d;
            word = (3 * i + 5) % 16;
            break;
        default:
            mixed = c ^ (b | ~d);
            word = 7 * i % 16;
        }
        uint32_t sum = a + mixed + sines[i] + words[word];
        unsigned shift = shifts[i / 16][i % 4];
        uint32_t next = b + (sum << shift | sum >> (32 - shift));
        a = d;
        d = c;
        c = b;
        b = next;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
}

void pr_md5(uint8_t hash[PR_MD5_BYTES], const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    uint32_t state[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
    uint64_t bits = (uint64_t)size * 8;
    size_t left = size;
    for (; left >= BLOCK; left -= BLOCK, at += BLOCK)
        add_block(state, at);
    /* What is left, a bit, zeros, and the length: one block more, or two. */
    unsigned char last[2 * BLOCK] = {0};
    size_t end = left < BLOCK - LENGTH_BYTES ? BLOCK : 2 * BLOCK;
    memcpy(last, at, left);
    last[left] = 0x80;
    memcpy(last + end - LENGTH_BYTES, &bits, LENGTH_BYTES);
    for (size_t i = 0; i < end; i += BLOCK)
        add_block(state, last + i);
    memcpy(hash, state, PR_MD5_BYTES);
}
