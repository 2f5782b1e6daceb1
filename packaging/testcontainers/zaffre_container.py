"""A Zaffre container for tests, with Testcontainers for Python.

    pip install testcontainers azure-storage-blob

    with ZaffreContainer() as storage:
        service = BlobServiceClient.from_connection_string(storage.connection_string())

`Controls(storage.console_url())` from samples/test-controls turns its clock.
"""

from testcontainers.core.container import DockerContainer
from testcontainers.core.waiting_utils import wait_for_logs

KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
PORTS = {"Blob": 10000, "Queue": 10001, "Table": 10002}


class ZaffreContainer(DockerContainer):
    def __init__(self, image: str = "zaffre", **kwargs) -> None:
        super().__init__(image, **kwargs)
        self.with_exposed_ports(*PORTS.values(), 10080)
        self.with_command(
            "zaffre --inMemoryPersistence --blobHost 0.0.0.0 --queueHost 0.0.0.0 "
            "--tableHost 0.0.0.0 --consoleHost 0.0.0.0 --test-controls --test-controls-anywhere"
        )

    def start(self) -> "ZaffreContainer":
        super().start()
        wait_for_logs(self, "Azurite Table service is successfully listening", timeout=30)
        return self

    def _at(self, port: int) -> str:
        return f"http://{self.get_container_host_ip()}:{self.get_exposed_port(port)}"

    def connection_string(self) -> str:
        ends = [f"{name}Endpoint={self._at(port)}/devstoreaccount1;" for name, port in PORTS.items()]
        account = f"AccountName=devstoreaccount1;AccountKey={KEY};"
        return "DefaultEndpointsProtocol=http;" + account + "".join(ends)

    def console_url(self) -> str:
        return self._at(10080)
