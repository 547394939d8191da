/*
 * The S-box of AES on the eight slices x[0..7] of a word's bytes: the circuit
 * of 32 AND and 83 XOR by J. Boyar and R. Peralta, "A New Combinational Logic
 * Minimization Technique with Applications to Cryptology" (SEA 2010),
 * section 3; their names, except that u0 is the most significant bit of the
 * input and results with few uses are not named.
 */
static void sbox(aes_word *x)
{
    aes_word u0 = x[7], u1 = x[6], u2 = x[5], u3 = x[4];
    aes_word u4 = x[3], u5 = x[2], u6 = x[1], u7 = x[0];

    /* the linear map before: to GF(((2^2)^2)^2) */
    aes_word y14 = u3 ^ u5, y13 = u0 ^ u6, y9 = u0 ^ u3, y8 = u0 ^ u5;
    aes_word t0 = u1 ^ u2, y1 = t0 ^ u7, y4 = y1 ^ u3, y12 = y13 ^ y14;
    aes_word y2 = y1 ^ u0, y5 = y1 ^ u6, y3 = y5 ^ y8, t1 = u4 ^ y12;
    aes_word y15 = t1 ^ u5, y20 = t1 ^ u1, y6 = y15 ^ u7, y10 = y15 ^ t0;
    aes_word y11 = y20 ^ y9, y7 = u7 ^ y11, y17 = y10 ^ y11;
    aes_word y19 = y10 ^ y8, y16 = t0 ^ y11, y21 = y13 ^ y16;
    aes_word y18 = u0 ^ y16;

    /* inversion */
    aes_word t2 = y12 & y15, t4 = (y3 & y6) ^ t2, t6 = (y4 & u7) ^ t2;
    aes_word t7 = y13 & y16, t9 = (y5 & y1) ^ t7, t11 = (y2 & y7) ^ t7;
    aes_word t12 = y9 & y11, t14 = (y14 & y17) ^ t12;
    aes_word t16 = (y8 & y10) ^ t12;
    aes_word t21 = t4 ^ t14 ^ y20, t22 = t6 ^ t16 ^ y19;
    aes_word t23 = t9 ^ t14 ^ y21, t24 = t11 ^ t16 ^ y18;
    aes_word t25 = t21 ^ t22, t26 = t21 & t23, t27 = t24 ^ t26;
    aes_word t29 = (t25 & t27) ^ t22, t30 = t23 ^ t24, t31 = t22 ^ t26;
    aes_word t33 = (t31 & t30) ^ t24, t34 = t23 ^ t33, t35 = t27 ^ t33;
    aes_word t36 = t24 & t35, t37 = t36 ^ t34, t38 = t27 ^ t36;
    aes_word t40 = t25 ^ (t29 & t38), t41 = t40 ^ t37, t42 = t29 ^ t33;
    aes_word t43 = t29 ^ t40, t44 = t33 ^ t37, t45 = t42 ^ t41;
    aes_word z0 = t44 & y15, z1 = t37 & y6, z2 = t33 & u7, z3 = t43 & y16;
    aes_word z4 = t40 & y1, z5 = t29 & y7, z6 = t42 & y11, z7 = t45 & y17;
    aes_word z8 = t41 & y10, z9 = t44 & y12, z10 = t37 & y3;
    aes_word z11 = t33 & y4, z12 = t43 & y13, z13 = t40 & y5;
    aes_word z14 = t29 & y2, z15 = t42 & y9, z16 = t45 & y14;
    aes_word z17 = t41 & y8;

    /* the linear map behind, with the affine map of the S-box */
    aes_word t46 = z15 ^ z16, t48 = z5 ^ z13, t53 = z0 ^ z3;
    aes_word t57 = z2 ^ z12 ^ t53, t58 = z4 ^ t46, t59 = z3 ^ z6 ^ z7;
    aes_word t62 = z7 ^ z8 ^ t58, t63 = z9 ^ z10 ^ t58, t64 = z4 ^ t59;
    aes_word t65 = z14 ^ t57 ^ t62, t66 = z1 ^ t63, s3 = t53 ^ t66;

    x[7] = t59 ^ t63;
    x[6] = (aes_word)~(t64 ^ s3);
    x[5] = (aes_word)~(z16 ^ z17 ^ t64 ^ t65);
    x[4] = s3;
    x[3] = z2 ^ z5 ^ t66;
    x[2] = z10 ^ z11 ^ t65;
    x[1] = (aes_word)~(z12 ^ t48 ^ t62);
    x[0] = (aes_word)~(t48 ^ t46 ^ t57);
}

/* Exchanges the bits of a n places above the mask with those of b under it. */
#define SWAPMOVE(a, b, mask, n)                                              \
    do {                                                                     \
        aes_word swap_ = (aes_word)(((a) >> (n) ^ (b)) & (aes_word)(mask));  \
                                                                             \
        (b) ^= swap_;                                                        \
        (a) ^= (aes_word)(swap_ << (n));                                     \
    } while (0)

/* Bit i of word j becomes bit j of word i, in every byte of the words. */
static void transpose(aes_word *x)
{
    uint8_t i;

    for (i = 0; i < 8; i = (uint8_t)(i + 2))
        SWAPMOVE(x[i], x[i + 1], 0x55555555, 1);
    for (i = 0; i < 8; i = (uint8_t)(i + 4)) {
        SWAPMOVE(x[i], x[i + 2], 0x33333333, 2);
        SWAPMOVE(x[i + 1], x[i + 3], 0x33333333, 2);
    }
    for (i = 0; i < 4; i++)
        SWAPMOVE(x[i], x[i + 4], 0x0F0F0F0F, 4);
}
