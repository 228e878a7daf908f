# The container image of Tollgate, for linux/amd64 and linux/arm64. docs/deploying.md says how to
# build and run it. The first two stages run on the building machine, whatever the target is, and
# the last one runs nothing: no emulation is needed, and its base may lack a shell.

# Needs npm and Node 20 or newer.
ARG BUILD_BASE=docker.io/library/node:24-bookworm-slim@sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d
# Needs glibc and libstdc++.
ARG BASE=gcr.io/distroless/cc-debian12:nonroot@sha256:9dac0a79194e45a7da0158a9c6da57b217585af0786db3845d1f0ec1a0dd182f

# Builds the package, as it is published.
FROM --platform=$BUILDPLATFORM ${BUILD_BASE} AS package
WORKDIR /source
COPY . .
RUN npm pack --loglevel=error --pack-destination / && rm -r node_modules dist

# Makes the files of the image. Production dependencies come from the lock file; of Node's package
# only the program and its licence are kept.
FROM --platform=$BUILDPLATFORM ${BUILD_BASE} AS files
ARG TARGETARCH
WORKDIR /image/opt/tollgate
COPY --from=package /tollgate-*.tgz /
COPY package-lock.json ./
COPY deploy/image/tollgate /image/usr/local/bin/tollgate
RUN cpu=$(echo "$TARGETARCH" | sed s/amd64/x64/) \
  && tar -xzf /tollgate-*.tgz --strip-components=1 \
  && npm ci --omit=dev --include=optional --workspaces=false --ignore-scripts --no-audit --no-fund \
       --loglevel=error --os=linux --cpu="$cpu" --libc=glibc \
  && rm -r package-lock.json "node_modules/node-linux-$cpu/include" "node_modules/node-linux-$cpu/share" \
  && ln -s "/opt/tollgate/node_modules/node-linux-$cpu/bin/node" /image/usr/local/bin/node \
  && chmod 755 /image/usr/local/bin/tollgate \
  && mkdir -p /image/etc/tollgate /data

# Said for builders that would take the platform of the stage before.
FROM --platform=$TARGETPLATFORM ${BASE}
ARG BASE
ARG VERSION=unreleased
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Tollgate" \
      org.opencontainers.image.description="A paid HTTP gateway for language models" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.base.name="${BASE}"
COPY --from=files --chown=0:0 /image/ /
# A new volume takes the owner of this folder.
COPY --from=files --chown=10001:10001 /data /data
# SQLite puts its temporary files on the volume, because nothing else can be written.
ENV PATH=/usr/local/bin:/usr/bin:/bin HOST=0.0.0.0 PORT=4000 TOLLGATE_DATA_DIR=/data SQLITE_TMPDIR=/data
# `tollgate.yaml` is read from here, if there is one.
WORKDIR /etc/tollgate
USER 10001:10001
VOLUME /data
EXPOSE 4000
STOPSIGNAL SIGTERM
# Without a shell and without curl, because the base may lack both.
HEALTHCHECK --interval=15s --timeout=10s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/healthz', { signal: AbortSignal.timeout(8000) }).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["tollgate"]
CMD ["serve"]
