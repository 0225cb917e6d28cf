# Corral in a container: docs/install.md#docker says how to run it.
# The version of Node is that of package.json; both stages must have the same.
ARG NODE=24-bookworm-slim

FROM node:${NODE} AS build
WORKDIR /build
COPY . .
RUN npm ci --ignore-scripts \
 && npm pack --pack-destination /tmp \
 && mv /tmp/corral-*.tgz /tmp/corral.tgz

FROM node:${NODE}
# git: worktrees, diffs, checkpoints. tini: agents outlive their parents, and somebody has to collect them.
RUN apt-get update \
 && apt-get install --yes --no-install-recommends ca-certificates git tini \
 && rm -rf /var/lib/apt/lists/*
COPY --from=build /tmp/corral.tgz /tmp/corral.tgz
RUN npm install --global --offline /tmp/corral.tgz \
 && rm -rf /tmp/corral.tgz /root/.npm \
 && mkdir /data /work \
 && chown node:node /data /work
# Not root: 1000:1000. Give the volumes to that user, or run with --user.
USER node
# What Corral keeps; what agents work on.
ENV CORRAL_HOME=/data \
    CORRAL_HTTP_BIND=0.0.0.0
VOLUME /data
WORKDIR /work
# Corral's own port: dashboard, native API, MCP, metrics. With TLS and a token, since it is reachable from outside.
EXPOSE 2677
HEALTHCHECK --interval=30s --timeout=10s --start-period=20s CMD ["corral", "status"]
ENTRYPOINT ["/usr/bin/tini", "--", "corral"]
CMD ["start"]
