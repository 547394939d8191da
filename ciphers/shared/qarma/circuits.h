/*
 * The S-boxes on slices, found by a search of ours; sigma 0 and 1 are
 * involutions.
 */
#if SIGMA == 0

static inline void sbox(slice *x)
{
    slice x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3];
    slice t0 = x3 ^ x1, t1 = x3 ^ x0, t2 = t1 & t0, t3 = t2 ^ x0;
    slice t4 = t3 & t1, t5 = x2 | x1, t6 = t5 ^ t0, t7 = t2 & x2;
    slice t8 = t7 ^ x2, t9 = t8 ^ x0, t10 = t8 ^ t4, t11 = t6 & t5;
    slice t12 = t9 | t6, t13 = t10 ^ t5, t14 = t11 ^ t7, t15 = t12 ^ x3;

    x[0] = t14;
    x[1] = t13;
    x[2] = t3;
    x[3] = t15;
}

#define inverse_sbox sbox

#elif SIGMA == 1

static inline void sbox(slice *x)
{
    slice x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3];
    slice t0 = x3 ^ x0, t1 = x2 ^ x1, t2 = x3 | x2, t3 = t2 ^ x0;
    slice t4 = t2 ^ x1, t5 = t3 & t1, t6 = t5 ^ x2, t7 = t4 | t0;
    slice t8 = t7 ^ x3, t9 = t7 & t6, t10 = t9 ^ t3, t11 = t8 | t5;
    slice t12 = t11 ^ t4;

    x[0] = t10;
    x[1] = (slice)~t12;
    x[2] = t8;
    x[3] = (slice)~t6;
}

#define inverse_sbox sbox

#else

static inline void sbox(slice *x)
{
    slice x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3];
    slice t0 = x2 ^ x1, t1 = x2 & x1, t2 = t1 ^ x0, t3 = x3 & x1;
    slice t4 = t0 ^ x3, t5 = t3 | t2, t6 = t5 ^ x2, t7 = t6 & t4;
    slice t8 = t7 ^ x2, t9 = t7 | x1, t10 = t9 ^ t2, t11 = t9 ^ t4;
    slice t12 = t11 | x0, t13 = t11 ^ t5, t14 = t8 & x1, t15 = t12 | t0;
    slice t16 = t15 ^ t13, t17 = t14 ^ t12;

    x[0] = (slice)~t10;
    x[1] = (slice)~t16;
    x[2] = t6;
    x[3] = (slice)~t17;
}

static inline void inverse_sbox(slice *x)
{
    slice x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3];
    slice t0 = x2 ^ x0, t1 = x3 ^ x1, t2 = t1 | x0, t3 = t2 ^ x3;
    slice t4 = t3 | x2, t5 = t4 ^ t1, t6 = t5 | x1, t7 = t6 ^ x0;
    slice t8 = t0 ^ x1, t9 = t7 & x2, t10 = t9 ^ t3, t11 = t8 | t7;
    slice t12 = t11 ^ x1, t13 = t8 | t5, t14 = t13 ^ t12, t15 = t14 ^ t7;

    x[0] = (slice)~t12;
    x[1] = t5;
    x[2] = (slice)~t15;
    x[3] = t10;
}

#endif
