/*
 * The S-box on slices, found by a search of ours.
 */
static inline void sbox(slice *x)
{
    slice x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3];
    slice t0 = x3 | x1, t1 = x3 & x1, t2 = x3 | x0, t3 = t1 & x2;
    slice t4 = t3 ^ x3, t5 = t2 ^ x3, t6 = t5 ^ t0, t7 = t5 ^ x2;
    slice t8 = t7 ^ t2, t9 = t7 & t2, t10 = t8 | t4, t11 = t10 ^ x0;
    slice t12 = t10 ^ t9, t13 = t12 & t6, t14 = t13 ^ t10, t15 = t13 | t11;
    slice t16 = x1 | x0, t17 = t15 ^ t1, t18 = t11 ^ t6, t19 = t16 ^ t9;
    slice t20 = t18 & t4, t21 = t20 ^ t14;

    x[0] = t19;
    x[1] = t18;
    x[2] = (slice)~t17;
    x[3] = (slice)~t21;
}
