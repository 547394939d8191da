/* Compute-heavy code for the speed measurement: stream cipher rounds, 64-bit permutation rounds, bytes with a table,
   a checksum, sorting. No libraries. Ends with a breakpoint; the result is in the first word of RAM. */
typedef unsigned char u8;
typedef unsigned u32;
typedef unsigned long long u64;

void reset(void);
extern char stack_top[];
__attribute__((section(".vectors"), used)) void (*const vectors[2])(void) = {(void (*)(void))stack_top, reset};

static u32 rotl(u32 x, int n) { return x << n | x >> (32 - n); }
static u64 rotr(u64 x, int n) { return x >> n | x << (64 - n); }

#define QUARTER(a, b, c, d)                                                                                            \
    do {                                                                                                               \
        a += b, d = rotl(d ^ a, 16), c += d, b = rotl(b ^ c, 12);                                                      \
        a += b, d = rotl(d ^ a, 8), c += d, b = rotl(b ^ c, 7);                                                        \
    } while (0)

static __attribute__((noinline)) void stream(u32 *s) {
    u32 x[16];
    for (int i = 0; i < 16; i++)
        x[i] = s[i];
    for (int i = 0; i < 10; i++) {
        QUARTER(x[0], x[4], x[8], x[12]);
        QUARTER(x[1], x[5], x[9], x[13]);
        QUARTER(x[2], x[6], x[10], x[14]);
        QUARTER(x[3], x[7], x[11], x[15]);
        QUARTER(x[0], x[5], x[10], x[15]);
        QUARTER(x[1], x[6], x[11], x[12]);
        QUARTER(x[2], x[7], x[8], x[13]);
        QUARTER(x[3], x[4], x[9], x[14]);
    }
    for (int i = 0; i < 16; i++)
        s[i] += x[i];
}

static __attribute__((noinline)) void permute(u64 *s) {
    for (int r = 0; r < 12; r++) {
        u64 x0 = s[0], x1 = s[1], x2 = s[2] ^ (u64)(0xf0 - r * 15), x3 = s[3], x4 = s[4];
        x0 ^= x4, x4 ^= x3, x2 ^= x1;
        u64 t0 = ~x0 & x1, t1 = ~x1 & x2, t2 = ~x2 & x3, t3 = ~x3 & x4, t4 = ~x4 & x0;
        x0 ^= t1, x1 ^= t2, x2 ^= t3, x3 ^= t4, x4 ^= t0;
        x1 ^= x0, x0 ^= x4, x3 ^= x2, x2 = ~x2;
        s[0] = x0 ^ rotr(x0, 19) ^ rotr(x0, 28);
        s[1] = x1 ^ rotr(x1, 61) ^ rotr(x1, 39);
        s[2] = x2 ^ rotr(x2, 1) ^ rotr(x2, 6);
        s[3] = x3 ^ rotr(x3, 10) ^ rotr(x3, 17);
        s[4] = x4 ^ rotr(x4, 7) ^ rotr(x4, 41);
    }
}

static u8 box[256];
static u32 crc_table[256];

static __attribute__((noinline)) void bytes(u8 *s) {
    for (int r = 0; r < 10; r++) {
        u8 t[16];
        for (int i = 0; i < 16; i++)
            t[i] = box[s[(i * 5) & 15]];
        for (int c = 0; c < 16; c += 4) {
            u8 all = t[c] ^ t[c + 1] ^ t[c + 2] ^ t[c + 3];
            for (int k = 0; k < 4; k++) {
                u8 v = t[c + k] ^ t[c + ((k + 1) & 3)];
                v = (u8)(v << 1) ^ ((v >> 7) * 0x1b);
                s[c + k] = t[c + k] ^ all ^ v ^ (u8)r;
            }
        }
    }
}

static __attribute__((noinline)) u32 checksum(const u8 *p, int n) {
    u32 c = ~0u;
    while (n--)
        c = crc_table[(c ^ *p++) & 255] ^ c >> 8;
    return ~c;
}

static __attribute__((noinline)) void sort(u32 *a, int n) {
    for (int i = 1; i < n; i++) {
        u32 v = a[i];
        int j = i;
        for (; j > 0 && a[j - 1] > v; j--)
            a[j] = a[j - 1];
        a[j] = v;
    }
}

static u32 s32[16], list[64];
static u64 s64[5];
static u8 s8[16];

void reset(void) {
    for (int i = 0; i < 256; i++) {
        u32 c = (u32)i;
        for (int k = 0; k < 8; k++)
            c = c >> 1 ^ (c & 1 ? 0xedb88320u : 0);
        crc_table[i] = c;
        box[i] = (u8)(i * 167 + 13);
    }
    for (int i = 0; i < 16; i++)
        s32[i] = (u32)i * 0x9e3779b9u, s8[i] = (u8)i;
    u32 sum = 0;
    for (int n = 0; n < LOOPS; n++) {
        stream(s32);
        permute(s64);
        bytes(s8);
        for (int i = 0; i < 64; i++)
            list[i] = s32[i & 15] * (u32)(i + 1) / (u32)(3 + (i & 7));
        sort(list, 64);
        sum = sum * 31 + checksum((const u8 *)list, sizeof list) + (u32)s64[0] + s8[3];
    }
    *(volatile u32 *)0x20000000 = sum;
    __asm__ volatile("bkpt 0");
    for (;;)
        ;
}
