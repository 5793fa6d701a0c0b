/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZEPHYR_INCLUDE_LOGGING_LOG_H_
#define ZEPHYR_INCLUDE_LOGGING_LOG_H_

/**
 * @defgroup log_api Logging
 * @{
 */

/** @brief Write a message that informs. */
#define LOG_INF(...) log_write(3, __VA_ARGS__)

/**
 * @brief Wait until every message is written.
 *
 * @param timeout_ms How long to wait at most.
 * @return 0, or -EAGAIN if messages are left.
 */
int log_flush_all(int timeout_ms);

/** @} */
#endif
