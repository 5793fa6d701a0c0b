# SPDX-License-Identifier: Apache-2.0
"""Names that a tree does not show and that may yet be right: of modules that are not checked
out, of files that are missing, of headers that the build makes."""

from __future__ import annotations

import re

# Modules whose own Kconfig files, which are not in Zephyr's tree, define the options with these
# prefixes; those that Zephyr defines for them are found before this is asked.
_MODULE_OPTIONS = (
    ("LV_Z_", ""), ("LV_", "lvgl"), ("BOOT_", "mcuboot"), ("MCUBOOT_", "mcuboot"),
    ("CHRE", "chre"), ("TRACERECORDER", "percepio"), ("PERCEPIO_", "percepio"),
    ("ZSL_", "zscilib"), ("UEDHOC", "uoscore-uedhoc"), ("UOSCORE", "uoscore-uedhoc"),
    ("TENSORFLOW_LITE", "tflite-micro"), ("NRF_HW_", "nrf_hw_models"),
)  # fmt: skip


def module_of(option: str) -> str:
    """The module that may define an option that Zephyr does not; "" if none is known."""
    return next((module for prefix, module in _MODULE_OPTIONS if option.startswith(prefix)), "")


def may_define(missing: str, option: str) -> bool:
    """Whether a Kconfig file that is sourced and not there may define an option: the option says
    what the file's name says, "Kconfig.target" and I2C_EEPROM_TARGET; where the name says nothing,
    what its last two folders say, "drivers/i2c/target/Kconfig"."""
    *folders, name = missing.split("/")
    said = re.findall(r"[A-Z0-9]+", name.removeprefix("Kconfig").upper())
    if not said:
        said = re.findall(r"[A-Z0-9]+", " ".join(folders[-2:]).upper())
        said = said if len(said) > 1 else []
    return bool(said) and set(option.upper().split("_")).issuperset(said)


GENERATED = re.compile(
    r"zephyr/(?:syscalls/|syscall_(?:list|exports)|devicetree_generated|autoconf|\w*version\.h)"
)
# Not those that a C library or POSIX has as well: sys/types.h, net/if.h, …
OLD_INCLUDE = re.compile(
    r"(?:zephyr|kernel|device|devicetree|init|toolchain|irq|cache|linker/.*|drivers/.*|bluetooth/.*|"
    r"logging/.*|shell/.*|settings/.*|storage/.*|usb/.*|mgmt/.*|pm/.*|dt-bindings/.*|console/.*|"
    r"debug/.*|data/.*|random/.*|fs/.*|net/(?!if|ethernet).*|"
    r"sys/(?:printk|util|byteorder|reboot|ring_buffer|slist|dlist|atomic|__assert|crc))\.h"
    r"|drivers/.*\.h"
)
# Properties that edtlib takes without a binding's word, and those of the devicetree language.
ALWAYS = re.compile(
    r"compatible|status|reg|ranges|dma-ranges|phandle|interrupts|interrupt-parent|"
    r"interrupts-extended|interrupt-names|device_type|label|.*-controller|.*-map(?:-mask|-pass-thru)?"
    r"|pinctrl-\d+|pinctrl-names|linux,phandle|reg-names|zephyr,.*"
)
