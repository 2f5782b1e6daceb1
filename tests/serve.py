"""Starts the server, runs the given command with its address in the environment, stops it.

Exits with the command's code; a server that died on the way is a failure of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys

from harness import Server


def main() -> int:
    settings = os.environ.get("ZAFFRE_SETTINGS", "").split()
    words = [word for setting in settings for word in ("--setting", setting)]
    with Server(*words) as server:
        environment = {**os.environ, "ZAFFRE_URL": server.url,
                       "ZAFFRE_QUEUE_URL": server.queue_url,
                       "ZAFFRE_TABLE_URL": server.table_url,
                       "ZAFFRE_FILE_URL": server.file_url}  # fmt: skip
        code = subprocess.run(sys.argv[1:], env=environment).returncode
        if not server.alive():
            print(f"the server died during the run\n{server.output()[-4000:]}")
            return 1
        return code


if __name__ == "__main__":
    sys.exit(main())
