/*
 * The S-box on slices, found by a search of ours.
 */
static inline void sbox(slice *x)
{
    slice x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3];
    slice t0 = x2 & x1, t1 = x2 | x0, t2 = x2 ^ x0, t3 = x3 ^ x2;
    slice t4 = t2 ^ x1, t5 = t4 | t3, t6 = t4 | t0, t7 = t3 ^ t1;
    slice t8 = x1 | x0, t9 = t5 ^ t2, t10 = t9 ^ t6, t11 = t7 | t0;
    slice t12 = t5 & t2, t13 = t7 & t1, t14 = t13 ^ t8, t15 = t12 ^ t0;
    slice t16 = t11 ^ t5;

    x[0] = t14;
    x[1] = t16;
    x[2] = (slice)~t10;
    x[3] = (slice)~t15;
}
