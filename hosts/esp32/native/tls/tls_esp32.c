// FreeRTOS and lwIP for TLS: one task below lwIP, woken by lwIP's own events.
#include "tls_platform.h"
#include <stdlib.h>
#include <string.h>
#include "esp_heap_caps.h"
#include "esp_timer.h"
#include "freertos/FreeRTOS.h"
#include "freertos/semphr.h"
#include "freertos/task.h"
#include "lwip/api.h"
#include "lwip/tcp.h"

/** The engine's own, lwIP has 18: the two take turns. Below it an engine that is never idle would let no handshake come to its end; above it, it would stand still for one. */
#define PRIORITY 4
#define STACK 8192
#define HEAD 5

struct tls_net {
	struct netconn *below;
	/** What came and was not taken yet, and how far it was taken. */
	struct pbuf *came;
	uint16_t taken;
	bool over;
	bool broken;
};

static TaskHandle_t task;
static StaticSemaphore_t lockMemory;
static SemaphoreHandle_t lock;
static void (*runTask)(void);

static void __attribute__((constructor)) makeLock(void)
{
	lock = xSemaphoreCreateMutexStatic(&lockMemory);
}

void tls_lock(void) { xSemaphoreTake(lock, portMAX_DELAY); }
void tls_unlock(void) { xSemaphoreGive(lock); }
void tls_pause(void) { vTaskDelay(1); }
uint32_t tls_seconds(void) { return (uint32_t)(esp_timer_get_time() / 1000000); }
size_t tls_free(void) { return heap_caps_get_free_size(MALLOC_CAP_DEFAULT); }
size_t tls_largest_free(void) { return heap_caps_get_largest_free_block(MALLOC_CAP_DEFAULT); }

static void main_of_task(void *unused)
{
	runTask();
	vTaskDelete(NULL);
}

bool tls_task_start(void (*run)(void))
{
	runTask = run;
	return task || pdPASS == xTaskCreate(main_of_task, "tls", STACK / sizeof(StackType_t), NULL, PRIORITY, &task);
}

void tls_task_wait(uint32_t ms) { ulTaskNotifyTake(pdTRUE, pdMS_TO_TICKS(ms)); }

void tls_task_wake(void)
{
	if (task)
		xTaskNotifyGive(task);
}

uint32_t tls_task_stack_left(void)
{
	return task ? uxTaskGetStackHighWaterMark(task) * sizeof(StackType_t) : 0;
}

static void changed(struct netconn *below, enum netconn_evt event, u16_t length)
{
	if (event == NETCONN_EVT_RCVPLUS || event == NETCONN_EVT_SENDPLUS || event == NETCONN_EVT_ERROR)
		tls_task_wake();
}

struct tls_net *tls_net_dial(const char *address, uint16_t port)
{
	ip_addr_t to;
	struct tls_net *net = calloc(1, sizeof *net);
	if (!net || !ipaddr_aton(address, &to) || !(net->below = netconn_new_with_callback(NETCONN_TCP, changed))) {
		free(net);
		return NULL;
	}
	netconn_set_nonblocking(net->below, 1);
	// Nobody else knows it yet.
	tcp_nagle_disable(net->below->pcb.tcp);
	err_t error = netconn_connect(net->below, &to, port);
	net->broken = error != ERR_OK && error != ERR_INPROGRESS;
	return net;
}

int tls_net_connected(struct tls_net *net)
{
	if (net->broken || ERR_OK != netconn_err(net->below))
		return TLS_NET_BROKEN;
	if (!net->below->pcb.tcp)
		return TLS_NET_BROKEN;
	// lwIP says it by the state of its own record alone.
	return net->below->state == NETCONN_CONNECT ? TLS_NET_AGAIN : 0;
}

int tls_net_send(struct tls_net *net, const void *from, size_t count)
{
	size_t written = 0;
	err_t error = netconn_write_partly(net->below, from, count, NETCONN_COPY | NETCONN_DONTBLOCK, &written);
	if (error == ERR_OK && written > 0)
		return (int)written;
	return error == ERR_OK || error == ERR_WOULDBLOCK || error == ERR_INPROGRESS || error == ERR_MEM ? TLS_NET_AGAIN : TLS_NET_BROKEN;
}

/** Appends what lwIP has. */
static void fetch(struct tls_net *net)
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

/** The window opens by what was taken. */
static void took(struct tls_net *net, uint16_t count)
{
	netconn_tcp_recvd(net->below, count);
	net->taken += count;
	if (net->taken < net->came->tot_len)
		return;
	pbuf_free(net->came);
	net->came = NULL;
	net->taken = 0;
}

static int why_nothing(const struct tls_net *net)
{
	return !net->over ? TLS_NET_AGAIN : net->broken ? TLS_NET_BROKEN : TLS_NET_END;
}

int tls_net_peek(struct tls_net *net, void *into, size_t count)
{
	fetch(net);
	if (!net->came || net->came->tot_len - net->taken < count)
		return why_nothing(net);
	return pbuf_copy_partial(net->came, into, count, net->taken);
}

int tls_net_receive(struct tls_net *net, void *into, size_t count)
{
	fetch(net);
	size_t there = net->came ? net->came->tot_len - net->taken : 0;
	if (there == 0 || (count <= HEAD && there < count))
		return why_nothing(net);
	uint16_t copied = pbuf_copy_partial(net->came, into, there < count ? there : count, net->taken);
	took(net, copied);
	return copied;
}

void tls_net_close(struct tls_net *net)
{
	if (net->came)
		pbuf_free(net->came);
	netconn_delete(net->below);
	free(net);
}
