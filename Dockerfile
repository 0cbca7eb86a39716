# Stowplan in a small image.
#
#   docker build -t stowplan .
#   docker run --rm stowplan list studies
#   docker run --rm -v "$PWD/results:/results" -v /srv/disk:/work stowplan \
#       study fasterthanfs --scale quick --work /work --output /results/first
#
# Give the directory that is measured as a mount of the host (/work above): the container's own file
# system is an overlay, whose calls are not those of the disk below it. README.md says what else a
# container spoils, and 'stowplan doctor /work' looks for it.

FROM rust:1-slim-bookworm AS build
WORKDIR /source
# The compiler for SQLite and LMDB is in that image; nothing else is needed.
COPY . .
# The commit, since git's own directory is not sent: --build-arg COMMIT=$(git rev-parse HEAD)
ARG COMMIT=
RUN if [ -n "$COMMIT" ]; then export STOWPLAN_COMMIT="$COMMIT"; fi; \
    cargo install --locked --path crates/stowplan --root /made \
    && /made/bin/stowplan man --to /made/share/man/man1

FROM debian:bookworm-slim
COPY --from=build /made /usr/local
# Not root. The mounts of the host must be writable for this user, or give --user "$(id -u):$(id -g)".
RUN useradd --uid 10001 --create-home stowplan \
    && install -d -o stowplan -g stowplan /results
ENV LANG=C.UTF-8
USER stowplan
VOLUME /results
WORKDIR /results
ENTRYPOINT ["stowplan"]
CMD ["--help"]
