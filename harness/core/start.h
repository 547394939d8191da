/* The C run-time start that targets share: initial values into static data, zeros into the rest, then main. */
extern uint8_t sy_data_load[], sy_data_start[], sy_data_end[];
int main(void);

static inline void sy_run_main(void)
{
    volatile uint8_t *to = sy_data_start;
    const uint8_t *from = sy_data_load;
    while (to < sy_data_end)
        *to++ = *from++;
    while (to < sy_free_start)
        *to++ = 0;
    (void)main();
}
