# SPDX-License-Identifier: Apache-2.0
"""Whether an identifier in C code claims to come from Zephyr's headers. Pure.

A checker reports a name that no header defines only if its prefix is Zephyr's own. The tables
come from a count over Zephyr 4.1.99: the names with a prefix that `include/zephyr` defines,
against those that samples and tests call but define themselves or get from private headers.

    prefix     headers   others  e.g.
    k_             435        3  k_mem_num_pagefaults_get (kernel/include)
    bt_          1,178       10  bt_ready, bt_uart_isr: left out by their ending
    net_           862       73  net_hexdump, net_sprint_ipv6_addr: families such as net_if_ only
    sys_           737       48  sys_trace_…, sys_clock_…: families only
    gpio_           50        2  gpio_thread: gpio_pin_, gpio_port_
    uart_           65        8  uart_cb: uart_irq_, uart_poll_, …
    sensor_         36       10  sensor_get: sensor_sample_, sensor_channel_, …
    SPI_            39       55  SPI_BUF_SIZE: SPI_DT_

In the 572 applications of `samples/` (202,000 identifiers) no name is claimed that is neither in
a header nor in the application. In the 1,035 of `tests/` 149 names are, 141 of them functions of
the Bluetooth host's private headers. Half of the documented functions have a claimed prefix.
"""

from __future__ import annotations

import re

# Functions; a macro that is called like one counts, too.
FUNCTION_PREFIXES = tuple(
    re.findall(
        r"\S+",
        """k_ bt_ zbus_ zsock_ rtio_ usbd_ llext_ atomic_ nvs_ zms_ regulator_ pinctrl_ cfb_
        retention_ sys_slist_ sys_dlist_ sys_sflist_ sys_heap_ sys_get_ sys_put_
        sys_cache_ sys_rand_ sys_csrand_ sys_bitarray_ sys_hashmap_ sys_timepoint_
        sys_mutex_ sys_sem_ sys_mem_ sys_reboot_ net_if_ net_buf_ net_addr_ net_mgmt_
        net_eth_ net_dhcpv4_ net_hostname_ net_config_ device_is_ device_get_ gpio_pin_
        gpio_port_ gpio_is_ gpio_remove_ uart_irq_ uart_poll_ uart_fifo_ uart_config_
        uart_line_ i2c_reg_ i2c_burst_ i2c_transfer_ i2c_is_ i3c_ spi_transceive_
        spi_is_ spi_release_ pwm_set_ pwm_get_ pwm_is_ pwm_capture_ pwm_pin_
        adc_channel_ adc_raw_ adc_sequence_ adc_is_ dac_channel_ sensor_sample_
        sensor_channel_ sensor_attr_ sensor_trigger_ sensor_value_ counter_get_
        counter_set_ counter_cancel_ rtc_alarm_ rtc_set_ rtc_update_ flash_area_
        flash_img_ flash_get_ disk_access_ stream_flash_ fs_mount_ fs_dir_ can_add_
        can_get_ can_set_ can_calc_ wdt_install_ task_wdt_ clock_control_ hwinfo_get_
        reset_line_ mipi_dbi_ mbox_send_ ipc_service_ led_strip_ video_get_ video_set_
        video_buffer_ pm_device_ pm_policy_ pm_state_ settings_subsys_ settings_save_
        settings_load_ shell_execute_ shell_backend_ log_backend_ log_msg_ ring_buf_
        json_obj_ json_arr_ coap_packet_ coap_client_ coap_pending_ coap_reply_
        coap_resource_ coap_service_ http_client_ http_server_ dns_resolve_ conn_mgr_
        modem_chat_ modem_cmux_ smf_set_ timeutil_ hawkbit_get_ hawkbit_set_
        emul_sensor_ fuel_gauge_""",
    )
)
# Macros that are called.
MACRO_PREFIXES = tuple(
    re.findall(
        r"\S+",
        """K_ DT_ LOG_ DEVICE_DT_ DEVICE_API_ SYS_ BT_ NET_ ZBUS_ SENSOR_ RTIO_ USBD_ GPIO_DT_
        I2C_DT_ I3C_DT_ SPI_DT_ PWM_DT_ ADC_DT_ MBOX_DT_ PINCTRL_DT_ CAN_DT_ RESET_DT_
        I2C_DEVICE_DT_ SPI_DEVICE_DT_ PM_DEVICE_ FIXED_PARTITION_ STRUCT_SECTION_
        SETTINGS_STATIC_ SHELL_CMD_ SHELL_SUBCMD_ SHELL_STATIC_ SHELL_COND_
        HTTP_SERVICE_ HTTP_RESOURCE_ RING_BUF_ COAP_RESOURCE_ COAP_SERVICE_ JSON_OBJ_
        ATOMIC_ INPUT_CALLBACK_""",
    )
)
# Macros and enumerators that are values.
VALUE_PREFIXES = tuple(
    re.findall(
        r"\S+",
        """K_ DT_ BT_LE_ BT_GATT_PERM_ BT_GATT_CHRC_ BT_GAP_ BT_SECURITY_ BT_DATA_ BT_HCI_ERR_
        SENSOR_CHAN_ SENSOR_ATTR_ SENSOR_TRIG_ GPIO_INT_ GPIO_ACTIVE_ GPIO_PULL_
        GPIO_OUTPUT_ GPIO_OPEN_ UART_CFG_ ADC_GAIN_ I2C_SPEED_ CAN_MODE_ CAN_STATE_
        PWM_POLARITY_ LOG_LEVEL_ WIFI_SECURITY_ INPUT_KEY_ INPUT_ABS_ INPUT_REL_
        PM_DEVICE_ACTION_ PM_DEVICE_STATE_ PM_STATE_ ZBUS_ RTIO_ DMA_CHANNEL_ USBD_MSG_
        HTTP_RESOURCE_ NET_REQUEST_ PIXEL_FORMAT_""",
    )
)
API_PREFIXES = FUNCTION_PREFIXES + MACRO_PREFIXES + VALUE_PREFIXES

# Names with these prefixes that are generated, that an application has to define, or that stand
# in headers outside of include/: devicetree macros, object types, system call tables, tracing.
_GENERATED = re.compile(
    r"""DT_(?:N|N_.*|CHOSEN_.*|DRV_COMPAT|COMPAT_HAS_OKAY_.*|FOREACH_OKAY_.*|ROOT_.*|DEP_ORD_.*|SIZE_.*|FREQ_.*|ADDR|LABEL
          |FOREACH_HELPER.*|PSEUDO_.*|CAT_.*|.*_EXISTS)
      | K_(?:OBJ|SYSCALL|MEM|CONFIG)_.* | k_mem_.* | k_obj(?:ect)?_.* | LOG_(?:LEVEL|MODULE_NAME)
      | SYS_(?:CLOCK|TRACE|TRACING|PORT)_.* | sys_(?:trace|port|clock)_.*
      | (?:BT|bt)_(?:SHELL|TEST|TESTER|shell|test|tester)_.* | NET_(?:SAMPLE|TEST|IPV6|DBG|ERR).*
      | \w*_(?:DRV|DEV)_NAME
    """,
    re.VERBOSE,
)
# How functions of an application end. (`bt_ready`, `net_event_handler`, `zbus_thread`)
_OWN = re.compile(
    r"""\w*_(?:cb|cbs|callback|callbacks|handler|handlers|handle|isr|thread|task|entry|work|hook
      |test|tests|sample|demo|ready|fake|mock|stub|wrapper|changed|fn|func|main|loop|app)
      | [a-z0-9]+_(?:init|setup|start|stop|run|test|deinit|process|configure|config|enable_all)""",
    re.VERBOSE,
)
# Names that stand for a name.
_PLACEHOLDER = re.compile(
    r"(?:.*_)?(?:foo|bar|baz|x{2,}|y{2,}|my|your|some|example|name|placeholder)\d*(?:_.*)?",
    re.IGNORECASE,
)


def claims_to_be_api(name: str, called: bool) -> bool:
    """Whether `name`, which no header defines, can only have been meant as Zephyr's.

    `called`: an opening parenthesis follows. A False says nothing about the name.
    """
    if name.endswith("_") or "__" in name or _PLACEHOLDER.fullmatch(name):
        return False
    if _GENERATED.fullmatch(name):
        return False
    if name.isupper():
        return name.startswith(MACRO_PREFIXES if called else VALUE_PREFIXES)
    if not name.islower():
        return False
    if not called:
        return name.startswith("k_") and name.endswith("_t")
    if name.startswith("k_"):
        return True
    return name.startswith(FUNCTION_PREFIXES) and not _OWN.fullmatch(name)
