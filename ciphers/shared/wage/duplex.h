/*
 * The WAGE permutation and the state of WAGE-AE-128 (sections 2.3 and 2.4 of
 * the WAGE specification, the submission to the NIST LWC project).
 */
#ifndef DUPLEX_H
#define DUPLEX_H

#include <stddef.h>
#include <stdint.h>

#define WAGE_STAGES 37

/* S_0 to S_36; S_(j,0) is bit 6 of a byte, S_(j,6) is bit 0. */
typedef struct {
    uint8_t s[WAGE_STAGES];
} duplex_state;

void wage_permute(duplex_state *s);

#define duplex_permute_key(s) wage_permute(s)
#define duplex_permute(s) wage_permute(s)

/* The rate part S_r (section 2.4.1) */
void duplex_add(duplex_state *s, const uint8_t *p);
void duplex_extract(const duplex_state *s, uint8_t *p);

/* 1 to S_(0,0), 2 to S_(0,1) */
#define duplex_add_domain(z, d) ((z)->s[0] ^= (d) == 1 ? 0x40 : 0x20)

void duplex_load(duplex_state *s, const uint8_t *npub, const uint8_t *k);
void duplex_tag(const duplex_state *s, uint8_t *t);

#endif
