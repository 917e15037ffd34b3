// Functions of ESP-IDF that mc/ffi cannot call, because they take and return pointers.
#include <stdint.h>
// With the path inside ESP-IDF, because the SDK's makefile lacks this component's include folder.
#include "app_update/include/esp_ota_ops.h"
#include "bootloader_support/include/esp_flash_encrypt.h"

/** The state of the running image as esp_ota_img_states_t; -1 if it has none, as after flashing. */
int32_t mote_image_state(void)
{
	esp_ota_img_states_t state;
	const esp_partition_t *running = esp_ota_get_running_partition();
	if (!running || ESP_OK != esp_ota_get_state_partition(running, &state))
		return -1;
	return (int32_t)state;
}

/** Number of the slot of the running image. */
int32_t mote_running_slot(void)
{
	const esp_partition_t *running = esp_ota_get_running_partition();
	return running ? (int32_t)running->subtype : -1;
}

/** Makes ESP-IDF verify the image in the other slot and start it next, on trial. 1 if it will. */
int32_t mote_activate(void)
{
	const esp_partition_t *next = esp_ota_get_next_update_partition(NULL);
	return next && ESP_OK == esp_ota_set_boot_partition(next) ? 1 : 0;
}

/** 1 if there is an image to roll back to. */
int32_t mote_can_revert(void)
{
	return esp_ota_check_rollback_is_possible() ? 1 : 0;
}

/** 1 if the flash of images is encrypted, which is written in blocks of 16 bytes. */
int32_t mote_is_encrypted(void)
{
	return esp_flash_encryption_enabled() ? 1 : 0;
}
