/* ISAP-A-128a: Table 2.2. */
#define ISAP_S_H 12
#define ISAP_S_B 1
#define ISAP_S_E 6
#define ISAP_S_K 12
