/*
 * The S-box on slices: the circuit of 14 gates by N. Courtois, D. Hulme and
 * T. Mourouzis, "Solving Circuit Optimisation Problems in Cryptography and
 * Cryptanalysis" (ePrint 2011/475); and the inverse, found by a search of ours.
 */
static inline void sbox(slice *x)
{
    slice x0 = x[3], x1 = x[2], x2 = x[1], x3 = x[0];
    slice t1 = x2 ^ x1, t3 = x0 ^ (x1 & t1), y3 = x3 ^ t3;
    slice t2 = (t1 & t3) ^ x1, t4 = t1 ^ y3, y2 = t4 ^ (x3 | t2);
    slice t5 = t2 ^ (slice)~x3;

    x[3] = y2 ^ t5;
    x[2] = t3 ^ (t5 | t4);
    x[1] = y2;
    x[0] = y3;
}

static inline void inverse_sbox(slice *x)
{
    slice x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3];
    slice t0 = x3 & x1, t1 = x2 ^ x0, t2 = t1 ^ t0, t3 = x3 ^ x1;
    slice t4 = t3 ^ x0, t5 = t4 & t2, t6 = t3 & x2, t7 = t6 | t2;
    slice t8 = t7 ^ x0, t9 = t7 ^ t5, t10 = x3 | x2, t11 = t10 ^ x1;
    slice t12 = t4 | x1, t13 = t8 | t2, t14 = t10 ^ t9, t15 = t12 ^ t8;
    slice t16 = t13 ^ t11;

    x[0] = (slice)~t2;
    x[1] = t16;
    x[2] = (slice)~t14;
    x[3] = t15;
}
