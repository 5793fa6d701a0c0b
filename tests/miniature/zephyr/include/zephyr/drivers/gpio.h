/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZEPHYR_INCLUDE_DRIVERS_GPIO_H_
#define ZEPHYR_INCLUDE_DRIVERS_GPIO_H_

struct gpio_callback;
struct device;

/** A pin drives its line low when it is active. */
#define GPIO_ACTIVE_LOW (1 << 0)

/** How a pin is used. */
enum gpio_use {
	GPIO_USE_NONE, /**< Not at all. */
	GPIO_USE_LAMP, /**< It lights a lamp. */
};

/**
 * @brief Add a function that is called when a pin changes.
 *
 * @param port The port of the pin.
 * @param callback What to call.
 * @retval 0 It was added.
 */
int gpio_add_callback(const struct device *port, struct gpio_callback *callback);

#endif
