/*
 * The S-box and its inverse on slices, found by a search of ours.
 */
static inline void sbox(slice *x)
{
    slice x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3];
    slice t0 = x3 ^ x0, t1 = t0 | x1, t2 = x3 ^ x2, t3 = x2 & x1;
    slice t4 = t1 & x2, t5 = x1 ^ x0, t6 = t1 ^ x3, t7 = t3 ^ t1;
    slice t8 = t6 & x2, t9 = t7 | t6, t10 = x3 & x1, t11 = t9 ^ x1;
    slice t12 = t10 ^ t8, t13 = t11 & t4, t14 = t13 ^ t6, t15 = t5 | t2;
    slice t16 = t4 | x0, t17 = t15 ^ t14, t18 = t16 ^ x1, t19 = t18 | t10;
    slice t20 = t19 ^ t0;

    x[0] = (slice)~t17;
    x[1] = (slice)~t12;
    x[2] = t11;
    x[3] = (slice)~t20;
}

static inline void inverse_sbox(slice *x)
{
    slice x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3];
    slice t0 = x2 ^ x0, t1 = x2 ^ x1, t2 = t1 ^ t0, t3 = t0 & x0;
    slice t4 = t3 ^ t0, t5 = t4 ^ x3, t6 = t5 | x0, t7 = t6 & t2;
    slice t8 = t5 & t1, t9 = t7 ^ t4, t10 = t5 & x1, t11 = t10 ^ t1;
    slice t12 = t9 ^ t6, t13 = t12 & t11, t14 = t13 ^ x3, t15 = t8 ^ x2;
    slice t16 = t8 | t7, t17 = t16 ^ t11;

    x[0] = (slice)~t14;
    x[1] = (slice)~t15;
    x[2] = t9;
    x[3] = (slice)~t17;
}
