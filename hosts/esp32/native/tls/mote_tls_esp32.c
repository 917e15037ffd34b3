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

/** The engine's: a lower priority would starve handshakes, a higher one the engine. lwIP has 18. */
#define PRIORITY 4
#define STACK 8192
#define HEAD 5

struct mote_tls_net {
	struct netconn *below;
	/** Bytes that came, and how many of them were taken. */
	struct pbuf *came;
	uint16_t taken;
	bool over;
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
void mote_tls_pause(void) { vTaskDelay(1); }
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

static void changed(struct netconn *below, enum netconn_evt event, u16_t length)
{
	if (event == NETCONN_EVT_RCVPLUS || event == NETCONN_EVT_SENDPLUS || event == NETCONN_EVT_ERROR)
		mote_tls_task_wake();
}

struct mote_tls_net *mote_tls_net_dial(const char *address, uint16_t port)
{
	ip_addr_t to;
	struct mote_tls_net *net = calloc(1, sizeof *net);
	if (!net || !ipaddr_aton(address, &to) || !(net->below = netconn_new_with_callback(NETCONN_TCP, changed))) {
		free(net);
		return NULL;
	}
	netconn_set_nonblocking(net->below, 1);
	// Safe from this task: lwIP does not use the connection yet.
	tcp_nagle_disable(net->below->pcb.tcp);
	err_t error = netconn_connect(net->below, &to, port);
	net->broken = error != ERR_OK && error != ERR_INPROGRESS;
	return net;
}

int mote_tls_net_connected(struct mote_tls_net *net)
{
	if (net->broken || ERR_OK != netconn_err(net->below))
		return MOTE_TLS_NET_BROKEN;
	if (!net->below->pcb.tcp)
		return MOTE_TLS_NET_BROKEN;
	// lwIP tells it only by the state of the netconn.
	return net->below->state == NETCONN_CONNECT ? MOTE_TLS_NET_AGAIN : 0;
}

int mote_tls_net_send(struct mote_tls_net *net, const void *from, size_t count)
{
	size_t written = 0;
	err_t error = netconn_write_partly(net->below, from, count, NETCONN_COPY | NETCONN_DONTBLOCK, &written);
	if (error == ERR_OK && written > 0)
		return (int)written;
	return error == ERR_OK || error == ERR_WOULDBLOCK || error == ERR_INPROGRESS || error == ERR_MEM ? MOTE_TLS_NET_AGAIN : MOTE_TLS_NET_BROKEN;
}

/** Appends the bytes that lwIP has. */
static void fetch(struct mote_tls_net *net)
{
	struct pbuf *more;
	while (!net->over && (!net->came || net->came->tot_len - net->taken < HEAD)) {
		err_t error = netconn_recv_tcp_pbuf_flags(net->below, &more, NETCONN_DONTBLOCK | NETCONN_NOAUTORCVD);
		if (error == ERR_WOULDBLOCK)
			return;
		if (error != ERR_OK) {
			net->over = true;
			net->broken = error != ERR_CLSD;
			return;
		}
		if (net->came)
			pbuf_cat(net->came, more);
		else
			net->came = more;
	}
}

/** Opens lwIP's window by the bytes that were taken. */
static void took(struct mote_tls_net *net, uint16_t count)
{
	netconn_tcp_recvd(net->below, count);
	net->taken += count;
	if (net->taken < net->came->tot_len)
		return;
	pbuf_free(net->came);
	net->came = NULL;
	net->taken = 0;
}

static int net_status(const struct mote_tls_net *net)
{
	return !net->over ? MOTE_TLS_NET_AGAIN : net->broken ? MOTE_TLS_NET_BROKEN : MOTE_TLS_NET_END;
}

int mote_tls_net_peek(struct mote_tls_net *net, void *into, size_t count)
{
	fetch(net);
	if (!net->came || net->came->tot_len - net->taken < count)
		return net_status(net);
	return pbuf_copy_partial(net->came, into, count, net->taken);
}

int mote_tls_net_receive(struct mote_tls_net *net, void *into, size_t count)
{
	fetch(net);
	size_t there = net->came ? net->came->tot_len - net->taken : 0;
	if (there == 0 || (count <= HEAD && there < count))
		return net_status(net);
	uint16_t copied = pbuf_copy_partial(net->came, into, there < count ? there : count, net->taken);
	took(net, copied);
	return copied;
}

void mote_tls_net_close(struct mote_tls_net *net)
{
	if (net->came)
		pbuf_free(net->came);
	netconn_delete(net->below);
	free(net);
}
