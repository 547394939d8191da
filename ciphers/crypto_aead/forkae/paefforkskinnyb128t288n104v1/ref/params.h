/* PAEF-ForkSkinny-128-288 (Tables 1 and 4 of the specification) */
#define FORK_N 16
#define FORK_T 36
#define FORK_RINIT 25
#define FORK_R0 31
#define FORK_R1 31
