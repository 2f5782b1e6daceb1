"""What a share does when two protocols use it: plain data and the rules of sharing, locks and deletion.

The judge of the random test. It must know nothing of the server: only what is documented.
"""

from __future__ import annotations

from dataclasses import dataclass, field


class Refused(Exception):
    """The operation is refused: the name of what SMB or REST says (one of several, by `|`)."""


@dataclass(eq=False)
class Node:
    data: bytearray | None  # None: a directory
    pending: bool = False
    lease: str | None = None
    handles: list[Handle] = field(default_factory=list)

    def locks(self):
        return [(handle, lock) for handle in self.handles for lock in handle.locks]


@dataclass(eq=False)
class Handle:
    client: object
    id: bytes
    path: str
    access: set[str]
    share: set[str]
    on_close: bool
    locks: list[tuple[int, int, bool]] = field(default_factory=list)


def overlap(a: tuple[int, int, bool], offset: int, length: int) -> bool:
    return a[0] < offset + length and offset < a[0] + a[1]


class Tree:
    """Names (folded) to nodes. Paths are `f` or `d/f`."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self.spelled: dict[str, str] = {}

    def get(self, path: str) -> Node | None:
        return self.nodes.get(path.lower())

    def put(self, path: str, node: Node) -> None:
        self.nodes[path.lower()] = node
        self.spelled[path.lower()] = path.rsplit("/", 1)[-1]

    def drop(self, path: str) -> None:
        del self.nodes[path.lower()], self.spelled[path.lower()]

    def below(self, path: str) -> list[str]:
        return [key for key in self.nodes if key.startswith(path.lower() + "/")]

    def parent_is_there(self, path: str) -> bool:
        above = path.rpartition("/")[0]
        return not above or (self.get(above) is not None and self.get(above).data is None)

    def listed(self, path: str, pending: bool = False) -> set[str]:
        """REST hides what waits for its deletion; SMB shows it until it is gone."""
        prefix = path.lower() + "/" if path else ""
        keys = (k for k in self.nodes if k.startswith(prefix) and "/" not in k[len(prefix):])
        return {self.spelled[key] for key in keys if pending or not self.nodes[key].pending}

    # What both protocols ask before they touch a file.

    def share_check(self, node: Node, access: set[str], share: set[str], refused: str) -> None:
        for other in node.handles:
            if other.access and access and not (access <= other.share and other.access <= share):
                raise Refused(refused)

    # SMB.

    def open(self, handle: Handle, disposition: str) -> None:
        node = self.get(handle.path)
        if not self.parent_is_there(handle.path):
            raise Refused("OBJECT_PATH_NOT_FOUND")
        if node is None:
            if disposition == "open":
                raise Refused("OBJECT_NAME_NOT_FOUND")
            node = Node(bytearray())
            self.put(handle.path, node)
            node.handles.append(handle)
            return
        if node.pending:
            raise Refused("DELETE_PENDING")
        if disposition == "create":
            raise Refused("OBJECT_NAME_COLLISION")
        if node.lease and handle.access & {"W", "D"}:
            raise Refused("SHARING_VIOLATION")
        self.share_check(node, handle.access, handle.share, "SHARING_VIOLATION")
        node.handles.append(handle)

    def close(self, handle: Handle) -> None:
        node = self.get(handle.path)
        node.handles.remove(handle)
        node.pending |= handle.on_close
        if node.pending and not node.handles:
            self.drop(handle.path)

    def smb_read(self, handle: Handle, offset: int, length: int) -> bytes:
        node = self.need(handle, "R")
        for owner, lock in node.locks():
            if lock[2] and owner is not handle and overlap(lock, offset, length):
                raise Refused("FILE_LOCK_CONFLICT")
        if offset >= len(node.data):
            raise Refused("END_OF_FILE")
        return bytes(node.data[offset : offset + length])

    def smb_write(self, handle: Handle, data: bytes, offset: int) -> None:
        node = self.need(handle, "W")
        for owner, lock in node.locks():
            if (not lock[2] or owner is not handle) and overlap(lock, offset, len(data)):
                raise Refused("FILE_LOCK_CONFLICT")
        write(node.data, data, offset)

    def need(self, handle: Handle, right: str) -> Node:
        if right not in handle.access:
            raise Refused("ACCESS_DENIED")
        return self.get(handle.path)

    def lock(self, handle: Handle, offset: int, length: int, exclusive: bool) -> None:
        node = self.get(handle.path)
        for owner, lock in node.locks():
            # Its own exclusive lock is in the way of another exclusive one, not of a shared one.
            mine = owner is handle and not exclusive
            if overlap(lock, offset, length) and (exclusive or lock[2]) and not mine:
                raise Refused("LOCK_NOT_GRANTED")
        handle.locks.append((offset, length, exclusive))

    def unlock(self, handle: Handle, offset: int, length: int) -> None:
        for lock in handle.locks:
            if lock[:2] == (offset, length):
                handle.locks.remove(lock)
                return
        raise Refused("RANGE_NOT_LOCKED")

    def mark(self, handle: Handle, delete: bool) -> None:
        self.need(handle, "D").pending = delete

    def smb_rename(self, handle: Handle, target: str) -> None:
        node = self.need(handle, "D")
        if not self.parent_is_there(target):
            raise Refused("OBJECT_PATH_NOT_FOUND")
        there = self.get(target)
        if there is not None and there is not node:
            raise Refused("OBJECT_NAME_COLLISION")
        self.move(handle.path, target)

    def move(self, path: str, target: str) -> None:
        keys = {key: target + self.tail(path, key) for key in [path.lower(), *self.below(path)]}
        moved = {new: (self.nodes[key], new) for key, new in keys.items()}
        for key in keys:
            del self.nodes[key], self.spelled[key]
        for new, (node, _) in moved.items():
            self.put(new, node)
            for handle in node.handles:
                handle.path = new

    def tail(self, path: str, key: str) -> str:
        rest = key[len(path) :]
        return f"/{self.spelled[key]}" if rest else ""

    # REST.

    def file(self, path: str) -> Node:
        node = self.get(path)
        if node is None:
            raise Refused("ResourceNotFound" if self.parent_is_there(path) else "ParentNotFound")
        if node.pending:
            raise Refused("DeletePending")
        return node

    def rest_create(self, path: str, size: int, lease: str | None) -> None:
        if not self.parent_is_there(path):
            raise Refused("ParentNotFound")
        node = self.get(path)
        if node is None:
            self.put(path, Node(bytearray(size)))
            return
        if node.pending:
            raise Refused("DeletePending")
        self.rest_access(node, {"W", "D"}, lease, node.locks())
        node.data[:] = bytes(size)

    def rest_access(self, node: Node, access: set[str], lease: str | None, locks=()) -> None:
        """An operation of this access that these locks refuse. Which reason is given is not documented."""
        reasons = []
        if node.lease and access & {"W", "D"} and lease is None:
            reasons.append("LeaseIdMissing")
        if any(other.access and not access <= other.share for other in node.handles):
            reasons.append("SharingViolation")
        if locks:
            reasons.append("FileLockConflict")
        if reasons:
            raise Refused("|".join(reasons))

    def rest_write(self, path: str, data: bytes, offset: int, lease: str | None) -> None:
        node = self.file(path)
        self.rest_access(node, {"W"}, lease, node.locks())
        if offset + len(data) > len(node.data):
            raise Refused("InvalidRange")
        write(node.data, data, offset)

    def rest_read(self, path: str) -> bytes:
        node = self.file(path)
        # The client asks for more than there is, so for every locked byte.
        self.rest_access(node, {"R"}, None, [lock for _, lock in node.locks() if lock[2]])
        return bytes(node.data)

    def rest_resize(self, path: str, size: int, lease: str | None) -> None:
        node = self.file(path)
        beyond = [lock for _, lock in node.locks() if lock[0] + lock[1] > size]
        self.rest_access(node, {"W"}, lease, beyond)
        del node.data[size:]
        node.data.extend(bytes(size - len(node.data)))

    def rest_delete(self, path: str, lease: str | None) -> None:
        node = self.file(path)
        self.rest_removal(node, lease)
        self.drop(path)

    def rest_removal(self, node: Node, lease: str | None) -> None:
        reasons = ["LeaseIdMissing"] if node.lease and lease is None else []
        reasons += ["SharingViolation"] if node.handles else []
        if reasons:
            raise Refused("|".join(reasons))

    def rest_rename(self, path: str, target: str, lease: str | None) -> None:
        # Which of two names is looked at first is not documented.
        reasons = []
        there = self.get(target)
        if there is not None:
            reasons.append("DeletePending" if there.pending else "ResourceAlreadyExists")
        try:
            self.rest_removal(self.file(path), lease)
        except Refused as refused:
            reasons.append(str(refused))
        if reasons:
            raise Refused("|".join(reasons))
        self.move(path, target)

    def rest_acquire(self, path: str, lease: str) -> None:
        node = self.file(path)
        if node.lease:
            raise Refused("LeaseAlreadyPresent")
        self.share_check(node, {"R", "W", "D"}, {"R"}, "SharingViolation")
        node.lease = lease

    def rest_rmdir(self, path: str) -> None:
        if self.get(path) is None:
            raise Refused("ResourceNotFound")
        if self.below(path):
            raise Refused("DirectoryNotEmpty")
        self.drop(path)

    def rest_rename_directory(self, path: str, target: str) -> None:
        if self.get(path) is None:
            raise Refused("ResourceNotFound")
        if self.get(target) is not None:
            raise Refused("ResourceAlreadyExists")
        if any(self.nodes[key].handles for key in self.below(path)):
            raise Refused("SharingViolation")
        self.move(path, target)


def write(into: bytearray, data: bytes, offset: int) -> None:
    into.extend(bytes(max(0, offset - len(into))))
    into[offset : offset + len(data)] = data
