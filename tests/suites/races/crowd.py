"""Many clients at the same instant, each on its own connection that is already open."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def at_once(count: int, warm: Callable[[], object], act: Callable[[int], T]) -> list[T]:
    """Runs `act(i)` in `count` threads that leave a barrier together; raises the first error."""
    barrier = threading.Barrier(count)
    results: list[T | None] = [None] * count
    errors: list[BaseException] = []

    def run(index: int) -> None:
        try:
            warm()
            barrier.wait(60)
            results[index] = act(index)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return results  # type: ignore[return-value]


class Background:
    """Repeats actions in threads until the block ends; an error in any of them fails the test."""

    def __init__(self, *actions: Callable[[], object]) -> None:
        self.stop = threading.Event()
        self.errors: list[BaseException] = []
        self.rounds = 0
        self.threads = [threading.Thread(target=self._loop, args=(a,)) for a in actions]

    def _loop(self, action: Callable[[], object]) -> None:
        while not self.stop.is_set():
            try:
                action()
                self.rounds += 1
            except BaseException as error:
                self.errors.append(error)
                return

    def __enter__(self) -> Background:
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, kind, *_: object) -> None:
        self.stop.set()
        for thread in self.threads:
            thread.join()
        if self.errors and kind is None:
            raise self.errors[0]
