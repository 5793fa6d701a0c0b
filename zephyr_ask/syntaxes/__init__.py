# SPDX-License-Identifier: Apache-2.0
"""One file a syntax: where names stand in it. `zephyr_ask/mentions.py` chooses.

Each syntax is a function of a Source and the range of it to read: a code block in a page is
read in place, so that lines and columns are those of the page.
"""
