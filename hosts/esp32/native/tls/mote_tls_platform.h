// What TLS needs from the system: a task with a lock, and TCP. mote_tls_esp32.c implements it for
// the board, test/hosts/esp32/tls/platform.c for Linux.
#pragma once
#include "esp_err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A non-blocking TCP connection. A change wakes the task. */
struct mote_tls_net;

enum {
	/** Not possible at present; try again later. */
	MOTE_TLS_NET_AGAIN = -1,
	/** The peer closed the connection with FIN. */
	MOTE_TLS_NET_END = -2,
	/** The connection was reset or failed, or connecting failed. */
	MOTE_TLS_NET_BROKEN = -3,
};

/** Starts to connect. NULL: no memory, or not an IPv4 address. */
struct mote_tls_net *mote_tls_net_connect(const char *address, uint16_t port);
/** 0: connected; MOTE_TLS_NET_AGAIN: not yet; MOTE_TLS_NET_BROKEN. */
int mote_tls_net_connected(struct mote_tls_net *net);
/** Returns the number of accepted bytes, at least one, or a MOTE_TLS_NET code. */
int mote_tls_net_send(struct mote_tls_net *net, const void *from, size_t count);
/**
 * Returns the number of received bytes, at least one, or a MOTE_TLS_NET code. With a `count` of at
 * most 5, the header of a record, it returns all `count` bytes or none.
 */
int mote_tls_net_receive(struct mote_tls_net *net, void *into, size_t count);
/** Copies `count` bytes, 5 at most, and leaves them to be received. All or none, as above. */
int mote_tls_net_peek(struct mote_tls_net *net, void *into, size_t count);
void mote_tls_net_close(struct mote_tls_net *net);

/** Starts the task unless it runs already. ESP_ERR_NO_MEM if there is no memory for it. */
esp_err_t mote_tls_task_start(void (*run)(void));
/** Bytes of the task's stack that were never used; 0 before it was started. */
uint32_t mote_tls_task_stack_left(void);
/** For the task: waits for a wake-up, at most `ms`. Wake-ups since the last wait count. */
void mote_tls_task_wait(uint32_t ms);
void mote_tls_task_wake(void);
void mote_tls_lock(void);
void mote_tls_unlock(void);
/** Seconds of uptime. */
uint32_t mote_tls_seconds(void);
/** Bytes of the largest free block of the heap, PSRAM not counted. */
size_t mote_tls_largest_free(void);
/** Bytes of free heap, PSRAM not counted. */
size_t mote_tls_free(void);
