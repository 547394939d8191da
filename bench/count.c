/* A QEMU plugin that counts instructions with an inline addition for each block, the cheapest way there is.
 * Arguments: count=off counts nothing; end=ADDRESS ends the process when the code there is first translated,
 * for machines that cannot be told to end. Made for version 1 of the plugin interface ("QEMU TCG Plugins" in
 * QEMU's documentation, section API), whose header distributions do not ship: what is used is declared here. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

typedef uint64_t id_type;
struct qemu_plugin_tb;
enum { INLINE_ADD_U64 = 0 };
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
void qemu_plugin_register_vcpu_tb_trans_cb(id_type id, void (*cb)(id_type, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *tb, int op, void *counter, uint64_t imm);
void qemu_plugin_register_atexit_cb(id_type id, void (*cb)(id_type, void *), void *data);

EXPORT int qemu_plugin_version = 1;
static uint64_t count, last = UINT64_MAX;
static int counting = 1;

static void end(id_type id, void *data)
{
    (void)id, (void)data;
    fprintf(stderr, "instructions %" PRIu64 "\n", count);
}

static void translated(id_type id, struct qemu_plugin_tb *tb)
{
    if (qemu_plugin_tb_vaddr(tb) == last) {
        end(id, 0);
        fflush(stderr);
        _Exit(0);
    }
    if (counting)
        qemu_plugin_register_vcpu_tb_exec_inline(tb, INLINE_ADD_U64, &count, qemu_plugin_tb_n_insns(tb));
}

EXPORT int qemu_plugin_install(id_type id, const void *info, int argc, char **argv)
{
    (void)info;
    for (int i = 0; i < argc; i++) {
        if (strncmp(argv[i], "end=", 4) == 0)
            last = strtoull(argv[i] + 4, 0, 0);
        counting &= strcmp(argv[i], "count=off") != 0;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, end, 0);
    return 0;
}
