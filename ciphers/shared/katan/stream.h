/*
 * The 80 bits of KATAN's key register, the next one the lowest.
 */
typedef struct {
    uint32_t k[2];
    uint16_t high;
} stream;

static void start(stream *s, const uint8_t *key)
{
    s->k[0] = load32be(key + 6);
    s->k[1] = load32be(key + 2);
    s->high = LOAD16BE(key);
}

/* Two bits leave, and the sums of those at 0, 19, 30 and 67 come in. */
static uint8_t next_two(stream *s)
{
    uint32_t low = s->k[0];
    uint8_t out = (uint8_t)low & 3;
    uint8_t in = (uint8_t)(out ^ low >> 19 ^ low >> 30 ^
                           (s->high >> 3)) & 3;

    s->k[0] = low >> 2 | s->k[1] << 30;
    s->k[1] = s->k[1] >> 2 | (uint32_t)s->high << 30;
    s->high = (uint16_t)(s->high >> 2 | (uint16_t)((uint16_t)in << 14));
    return out;
}
