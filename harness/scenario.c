/* The operations of crypto_block in a scenario of FELICS's: a message in a mode (modes.c), whose IV or counter comes as
 * associated data, in the output's place; and key schedules. SY_PARTS is that of aead.c; bit 2 says that the package is
 * FELICS's, and its functions those of phases.c. */
#include "harness.h"

#ifndef SY_PARTS
#define SY_PARTS 3
#endif

const uint8_t sy_api = SY_API_BLOCK;
const uint8_t sy_parts = (SY_PARTS & 3) | (SY_PARTS & 4 ? SY_CONTINUES : 0);

typedef void (*mode_fn)(uint8_t *, uint8_t *, uint8_t *);
extern void sy_mode_encrypt(uint8_t *data, uint8_t *round_keys, uint8_t *iv);
extern void sy_mode_decrypt(uint8_t *data, uint8_t *round_keys, uint8_t *iv);

#if SY_PARTS & 4 /* the key comes first, and nothing is returned */
typedef void (*schedule_fn)(uint8_t *, uint8_t *);
extern void crypto_block_encrypt_schedule(uint8_t *key, uint8_t *round_keys);
extern void crypto_block_decrypt_schedule(uint8_t *key, uint8_t *round_keys);
#define SY_FIRST(p) ((uint8_t *)(p)->key)
#define SY_SECOND(p) ((p)->out)
#else
#include "crypto_block.h"
typedef int (*schedule_fn)(unsigned char *, const unsigned char *);
#define SY_FIRST(p) ((p)->out)
#define SY_SECOND(p) ((p)->key)
#endif

uint8_t sy_operation_known(uint8_t op)
{
    return op == SY_EMPTY || op == SY_EMPTY_DECRYPT || op == SY_ENCRYPT || op == SY_SCHEDULE_ENCRYPT ||
           ((op == SY_DECRYPT || op == SY_SCHEDULE_DECRYPT) && (SY_PARTS & 2));
}

uint32_t sy_out_max(uint8_t op, uint16_t in_len)
{
    return op >= SY_SCHEDULE_ENCRYPT ? sy_npub_bytes : in_len;
}

static void nothing(void)
{
}

#if SY_PARTS & 4
#define SY_EMPTY_SCHEDULE ((schedule_fn)(void (*)(void))nothing)
#else
#define SY_EMPTY_SCHEDULE ((schedule_fn)SY_NOTHING)
#endif

int sy_run(uint8_t op, struct sy_call *p)
{
    if (op >= SY_EMPTY_DECRYPT) {
        volatile schedule_fn fn = SY_EMPTY_SCHEDULE;
        schedule_fn call;
#if SY_PARTS & 4
        uint16_t i;
        for (i = 0; op == SY_SCHEDULE_DECRYPT && i < sy_npub_bytes; i++)
            p->out[i] = p->npub[i];
#endif
        if (op == SY_SCHEDULE_ENCRYPT)
            fn = crypto_block_encrypt_schedule;
#if SY_PARTS & 2
        if (op == SY_SCHEDULE_DECRYPT)
            fn = crypto_block_decrypt_schedule;
#endif
        call = fn;
        p->out_len = sy_npub_bytes;
        SY_RISE();
        call(SY_FIRST(p), SY_SECOND(p));
        SY_FALL();
    } else {
        volatile mode_fn fn = (mode_fn)(void (*)(void))nothing;
        mode_fn call;
        uint16_t i;
        if (op == SY_ENCRYPT)
            fn = sy_mode_encrypt;
#if SY_PARTS & 2
        if (op == SY_DECRYPT)
            fn = sy_mode_decrypt;
#endif
        p->out_len = p->in_len;
        for (i = 0; i < p->in_len; i++)
            p->out[i] = p->in[i];
        call = fn;
        SY_RISE();
        call(p->out, (uint8_t *)p->npub, (uint8_t *)p->ad);
        SY_FALL();
    }
    return 0;
}
