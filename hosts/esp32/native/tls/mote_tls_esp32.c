// FreeRTOS and lwIP for TLS: one task, woken by lwIP's own events.
#include "mote_tls_platform.h"
#include <stdlib.h>
#include <string.h>
#include "esp_heap_caps.h"
#include "esp_timer.h"
#include "freertos/FreeRTOS.h"
#include "freertos/semphr.h"
#include "freertos/task.h"
#include "lwip/api.h"
#include "lwip/tcp.h"

/** As the engine: a lower priority would block handshakes, a higher one the engine. lwIP has 18. */
#define PRIORITY 4
#define STACK 8192
#define HEAD 5

struct mote_tls_net {
	struct netconn *conn;
	/** Received bytes, and how many of them were consumed. */
	struct pbuf *received;
	uint16_t used;
	bool ended;
	bool broken;
};

static TaskHandle_t task;
static StaticSemaphore_t lock_memory;
static SemaphoreHandle_t lock;
static void (*run_task)(void);

static void __attribute__((constructor)) make_lock(void)
{
	lock = xSemaphoreCreateMutexStatic(&lock_memory);
}

void mote_tls_lock(void) { xSemaphoreTake(lock, portMAX_DELAY); }
void mote_tls_unlock(void) { xSemaphoreGive(lock); }
uint32_t mote_tls_seconds(void) { return (uint32_t)(esp_timer_get_time() / 1000000); }
// Internal memory only: mbedTLS and Wi-Fi do not use PSRAM.
#define INTERNAL_HEAP (MALLOC_CAP_DEFAULT | MALLOC_CAP_INTERNAL)
size_t mote_tls_free(void) { return heap_caps_get_free_size(INTERNAL_HEAP); }
size_t mote_tls_largest_free(void) { return heap_caps_get_largest_free_block(INTERNAL_HEAP); }

static void main_of_task(void *unused)
{
	run_task();
	vTaskDelete(NULL);
}

esp_err_t mote_tls_task_start(void (*run)(void))
{
	run_task = run;
	if (task || pdPASS == xTaskCreate(main_of_task, "mote_tls", STACK / sizeof(StackType_t), NULL, PRIORITY, &task))
		return ESP_OK;
	return ESP_ERR_NO_MEM;
}

void mote_tls_task_wait(uint32_t ms) { ulTaskNotifyTake(pdTRUE, pdMS_TO_TICKS(ms)); }

void mote_tls_task_wake(void)
{
	if (task)
		xTaskNotifyGive(task);
}

uint32_t mote_tls_task_stack_left(void)
{
	return task ? uxTaskGetStackHighWaterMark(task) * sizeof(StackType_t) : 0;
}

static void changed(struct netconn *conn, enum netconn_evt event, u16_t length)
{
	if (event == NETCONN_EVT_RCVPLUS || event == NETCONN_EVT_SENDPLUS || event == NETCONN_EVT_ERROR)
		mote_tls_task_wake();
}

struct mote_tls_net *mote_tls_net_connect(const char *address, uint16_t port)
{
	ip_addr_t to;
	struct mote_tls_net *net = calloc(1, sizeof *net);
	if (!net || !ipaddr_aton(address, &to) || !(net->conn = netconn_new_with_callback(NETCONN_TCP, changed))) {
		free(net);
		return NULL;
	}
	netconn_set_nonblocking(net->conn, 1);
	// Safe from this task: lwIP does not use the connection yet.
	tcp_nagle_disable(net->conn->pcb.tcp);
	err_t error = netconn_connect(net->conn, &to, port);
	net->broken = error != ERR_OK && error != ERR_INPROGRESS;
	return net;
}

int mote_tls_net_connected(struct mote_tls_net *net)
{
	if (net->broken || ERR_OK != netconn_err(net->conn))
		return MOTE_TLS_NET_BROKEN;
	if (!net->conn->pcb.tcp)
		return MOTE_TLS_NET_BROKEN;
	// lwIP shows the end of connecting only in the state of the netconn.
	return net->conn->state == NETCONN_CONNECT ? MOTE_TLS_NET_AGAIN : 0;
}

int mote_tls_net_send(struct mote_tls_net *net, const void *from, size_t count)
{
	size_t written = 0;
	err_t error = netconn_write_partly(net->conn, from, count, NETCONN_COPY | NETCONN_DONTBLOCK, &written);
	if (error == ERR_OK && written > 0)
		return (int)written;
	return error == ERR_OK || error == ERR_WOULDBLOCK || error == ERR_INPROGRESS || error == ERR_MEM ? MOTE_TLS_NET_AGAIN : MOTE_TLS_NET_BROKEN;
}

/** Appends bytes from lwIP until there is a record's header. */
static void fetch(struct mote_tls_net *net)
{
	struct pbuf *more;
	while (!net->ended && (!net->received || net->received->tot_len - net->used < HEAD)) {
		err_t error = netconn_recv_tcp_pbuf_flags(net->conn, &more, NETCONN_DONTBLOCK | NETCONN_NOAUTORCVD);
		if (error == ERR_WOULDBLOCK)
			return;
		if (error != ERR_OK) {
			net->ended = true;
			net->broken = error != ERR_CLSD;
			return;
		}
		if (net->received)
			pbuf_cat(net->received, more);
		else
			net->received = more;
	}
}

/** Marks `count` bytes as consumed, and opens lwIP's receive window by them. */
static void consumed(struct mote_tls_net *net, uint16_t count)
{
	netconn_tcp_recvd(net->conn, count);
	net->used += count;
	if (net->used < net->received->tot_len)
		return;
	pbuf_free(net->received);
	net->received = NULL;
	net->used = 0;
}

static int net_status(const struct mote_tls_net *net)
{
	return !net->ended ? MOTE_TLS_NET_AGAIN : net->broken ? MOTE_TLS_NET_BROKEN : MOTE_TLS_NET_END;
}

int mote_tls_net_peek(struct mote_tls_net *net, void *into, size_t count)
{
	fetch(net);
	if (!net->received || net->received->tot_len - net->used < count)
		return net_status(net);
	return pbuf_copy_partial(net->received, into, count, net->used);
}

int mote_tls_net_receive(struct mote_tls_net *net, void *into, size_t count)
{
	fetch(net);
	size_t there = net->received ? net->received->tot_len - net->used : 0;
	if (there == 0 || (count <= HEAD && there < count))
		return net_status(net);
	uint16_t copied = pbuf_copy_partial(net->received, into, there < count ? there : count, net->used);
	consumed(net, copied);
	return copied;
}

void mote_tls_net_close(struct mote_tls_net *net)
{
	if (net->received)
		pbuf_free(net->received);
	netconn_delete(net->conn);
	free(net);
}
