/*
 * The S-box and its inverse on rows, found by a search of ours: 12 and 11
 * gates, and NOT.
 */
static inline void sbox(slice *x)
{
    slice x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3];
    slice t0 = x1 | x0, t1 = x2 ^ x1, t2 = x3 & x1, t3 = t1 ^ x0;
    slice t4 = t1 ^ t0, t5 = t3 ^ t2, t6 = t4 ^ x3, t7 = t6 | t1;
    slice t8 = t7 ^ x2, t9 = t8 ^ t5, t10 = t9 & t6, t11 = t10 ^ t1;

    x[0] = t6;
    x[1] = (slice)~t5;
    x[2] = (slice)~t9;
    x[3] = t11;
}

static inline void inverse_sbox(slice *x)
{
    slice x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3];
    slice t0 = x3 | x0, t1 = t0 ^ x2, t2 = t1 ^ x1, t3 = t1 & x0;
    slice t4 = t2 ^ x3, t5 = t4 | t1, t6 = t2 ^ x0, t7 = t4 ^ t3;
    slice t8 = t6 ^ t5, t9 = t8 & t7, t10 = t9 ^ t1;

    x[0] = (slice)~t10;
    x[1] = t7;
    x[2] = t2;
    x[3] = (slice)~t8;
}
