# syntax=docker/dockerfile:1
# Debian slim throughout: the same C library in every stage, and what the packaged PostgreSQL is linked against.
FROM node:24.20.0-bookworm-slim@sha256:ba849c60be29959425b8734d57b8b4b7d56f98edd9504c9af091d5281095a71e AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY packages ./packages
COPY panel/package.json ./panel/
# No dependency needs an install script.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY src ./src
COPY migrations ./migrations
COPY examples ./examples
COPY scripts ./scripts
COPY panel ./panel
RUN npm run --silent build
# What development needs stays behind in this stage.
RUN npm prune --omit=dev --ignore-scripts --no-audit --no-fund
# Links to packages/, which is compiled into dist.
RUN rm -r node_modules/@waygate

FROM node:24.20.0-bookworm-slim@sha256:ba849c60be29959425b8734d57b8b4b7d56f98edd9504c9af091d5281095a71e
LABEL org.opencontainers.image.title="Waygate" \
      org.opencontainers.image.description="Self-hosted, multi-instance messaging gateway to WhatsApp Web sessions" \
      org.opencontainers.image.licenses="Apache-2.0"
# FFMPEG=true adds it: then any sound file becomes a voice note, not only ogg/opus.
ARG FFMPEG=false
RUN if [ "$FFMPEG" = "true" ]; then \
      apt-get update && apt-get install -y --no-install-recommends ffmpeg && rm -rf /var/lib/apt/lists/*; \
    fi
ENV NODE_ENV=production \
    WAYGATE_HOST=0.0.0.0 \
    WAYGATE_PORT=3000 \
    WAYGATE_DATA_DIR=/data
WORKDIR /app
COPY --from=build /app/package.json ./package.json
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY bin ./bin
COPY docs ./docs
COPY LICENSE NOTICE README.md openapi.json ./
# Named volumes take over the owner of the folder on which they are mounted.
RUN mkdir /data /files && chown node:node /data /files
USER node
VOLUME /data
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.WAYGATE_PORT || 3000) + '/health/live').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "bin/waygate.mjs"]
CMD ["serve"]
