"""What every suite shares: starting the server, speaking its wire protocol, signing requests.

Nothing here imports a vendor SDK, so that wire tests never inherit an SDK's opinion.
"""

from .server import Server, SpawnFailed, server_command, temp_dir
from .signing import DEV_ACCOUNT, DEV_KEY, account_sas, service_sas
from .wire import Client, Reply, raw_exchange

__all__ = [
    "DEV_ACCOUNT",
    "DEV_KEY",
    "Client",
    "Reply",
    "Server",
    "SpawnFailed",
    "account_sas",
    "raw_exchange",
    "server_command",
    "service_sas",
    "temp_dir",
]
