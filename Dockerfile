# syntax=docker/dockerfile:1
#   docker build -t toolpost .                          without speech
#   docker build -t toolpost-voice --target voice .     with it
#   docker run -p 4040:4040 -e TOOLPOST_TOKEN=… -v toolpost:/data toolpost

FROM node:24-bookworm-slim AS build
WORKDIR /src
COPY . .
RUN npm run pack -- --out /packed

FROM node:24-bookworm-slim AS install
WORKDIR /app
COPY --from=build /packed /packed
# The ranges of Toolpost's peers choose the versions of what is optional.
# hadolint ignore=DL3016
RUN npm init -y >/dev/null \
 && npm install --omit=dev --no-audit --no-fund /packed/toolpost-*.tgz /packed/zwave-mcp-server-*.tgz \
      mathjs libsql @langchain/core @langchain/ollama @langchain/anthropic

FROM install AS install-voice
RUN npm install --omit=dev --no-audit --no-fund /packed/*.tgz

# Node itself is the process that gets the signal: no shell and no npm stands before it.
FROM node:24-bookworm-slim AS runtime
ENV NODE_ENV=production
RUN mkdir /data && chown node:node /data
WORKDIR /data
USER node
# toolpost.json, toolpost.approvals.json, and .toolpost with history and logins.
VOLUME /data
EXPOSE 4040
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:4040/healthz').then(({ status }) => process.exit(status < 500 ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/app/node_modules/toolpost/bin/toolpost.cjs"]
CMD ["up", "--host", "0.0.0.0"]

FROM runtime AS voice
USER root
RUN apt-get update \
 && apt-get install -y --no-install-recommends alsa-utils=1.* espeak-ng=1.* sox=14.* \
 && rm -rf /var/lib/apt/lists/*
COPY --from=install-voice /app /app
USER node
CMD ["up", "--host", "0.0.0.0", "--voice"]

FROM runtime AS toolpost
COPY --from=install /app /app
