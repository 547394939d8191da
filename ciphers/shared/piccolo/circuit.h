/*
 * The S-box on slices, found by a search of ours.
 */
static inline void sbox(slice *x)
{
    slice x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3];
    slice t0 = x3 | x2, t1 = x2 | x1, t2 = t1 ^ x3, t3 = t0 ^ x0;
    slice t4 = t3 ^ x2, t5 = t3 & t2, t6 = t3 & x1, t7 = t6 ^ t4;
    slice t8 = t5 ^ x1;

    x[0] = t8;
    x[1] = (slice)~t7;
    x[2] = (slice)~t2;
    x[3] = (slice)~t3;
}
