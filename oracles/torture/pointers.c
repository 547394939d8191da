/* Indirection: tables of functions, lists, arrays of arrays, strings, pointer arithmetic, volatile. */
#include "torture.h"

struct list { struct list *next; uint16_t value; };

typedef uint32_t (*operation)(uint32_t, uint32_t);
static NOINLINE uint32_t plus(uint32_t a, uint32_t b) { return a + b; }
static NOINLINE uint32_t minus(uint32_t a, uint32_t b) { return a - b; }
static NOINLINE uint32_t both(uint32_t a, uint32_t b) { return a & b; }
static const operation table[] = {plus, minus, both, mix};

static NOINLINE struct list *reverse(struct list *from)
{
    struct list *to = 0;
    while (from) {
        struct list *next = from->next;
        from->next = to;
        to = from;
        from = next;
    }
    return to;
}

static NOINLINE void sort(int16_t *from, int16_t *to)
{
    for (int16_t *p = from + 1; p < to; p++) {
        int16_t v = *p, *q = p;
        for (; q > from && q[-1] > v; q--)
            *q = q[-1];
        *q = v;
    }
}

uint32_t pointers(void)
{
    static const char *const words[] = {"alpha", "be", "", "gamma rays"};
    static uint16_t square[5][7];
    struct list nodes[6], *head = nodes;
    int16_t numbers[12];
    volatile uint8_t twice = 1;
    uint32_t sum = 13;
    uint8_t n = OPAQUE(uint8_t, 12); /* loops are not to be unrolled out of all proportion */
    for (uint8_t i = 0; i < n + 4; i++)
        sum = table[i * 5u % 4](sum, i * 0x1010101u);
    for (uint8_t i = 0; i < 6; i++) {
        nodes[i].value = (uint16_t)(i * i * 777u);
        nodes[i].next = i < 5 ? &nodes[i + 1] : 0;
    }
    for (struct list *p = reverse(head); p; p = p->next)
        sum = mix(sum, p->value + (uint32_t)(p - nodes));
    for (uint8_t i = 0; i < 5; i++)
        for (uint8_t j = 0; j < 7; j++)
            square[i][j] = (uint16_t)(i * 100u + j * twice++);
    for (const uint16_t *p = &square[4][6]; p > &square[0][0]; p -= 3)
        sum = mix(sum, *p);
    for (uint8_t i = 0; i < 4; i++)
        for (const char *p = words[i]; *p; p++)
            sum = mix(sum, (uint32_t)(uint8_t)*p << i);
    for (uint8_t i = 0; i < n; i++)
        numbers[i] = (int16_t)(i * 12347u - 30000u);
    sort(numbers, numbers + n);
    for (uint8_t i = 0; i < n; i++)
        sum = mix(sum, (uint32_t)(int32_t)numbers[i]);
    return sum;
}
