#!/bin/sh
# Makes the container image: a static binary, laid out in target/image, then packed by the Containerfile.
#
#   packaging/image.sh                   with podman, docker or buildah, whichever is there
#   packaging/image.sh layout            only target/image: what becomes the image's root
#
# PROFILE chooses the build profile (release), IMAGE the name (zaffre).
set -eu
cd "$(dirname "$0")/.."
profile=${PROFILE:-release}
target=${CARGO_TARGET_DIR:-target}

cargo rustc --locked --profile "$profile" -p zaffre --bin zaffre -- -C target-feature=+crt-static
folder=$profile
[ "$profile" = dev ] && folder=debug

root=target/image
rm -rf "$root"
mkdir -p "$root/usr/local/bin" "$root/etc" "$root/data"
cp "$target/$folder/zaffre" "$root/usr/local/bin/zaffre"
for name in azurite azurite-blob azurite-queue azurite-table; do
    ln -s zaffre "$root/usr/local/bin/$name"
done
echo 'zaffre:x:10000:10000::/data:/sbin/nologin' > "$root/etc/passwd"
echo 'zaffre:x:10000:' > "$root/etc/group"
[ "${1:-}" = layout ] && exit 0

set -- -t "${IMAGE:-zaffre}" -f packaging/Containerfile "$root"
# The other format has no health checks.
command -v podman > /dev/null && exec podman build --format docker "$@"
command -v docker > /dev/null && exec docker build "$@"
command -v buildah > /dev/null && exec buildah bud --isolation chroot --format docker "$@"
echo "podman, docker or buildah is needed; target/image is what they would pack" >&2
exit 1
