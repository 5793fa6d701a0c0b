# SPDX-License-Identifier: Apache-2.0
"""Read by its text alone; nothing runs it."""

from west.commands import WestCommand


class Plant(WestCommand):
    def __init__(self):
        super().__init__("plant", "plant a tree of folders", "Plants folders.")

    def do_add_parser(self, parser_adder):
        parser = parser_adder.add_parser(self.name, help=self.help)
        parser.add_argument("-d", "--depth", type=int, help="how deep")
        parser.add_argument("where", help="the folder")
        return parser

    def do_run(self, args, unknown):
        pass
