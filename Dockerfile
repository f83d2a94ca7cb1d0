# syntax=docker/dockerfile:1
FROM docker.io/library/node:24.22.3-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY scripts ./scripts
COPY src ./src
RUN npm run build && npm prune --omit=dev

FROM docker.io/library/node:24.22.3-slim
ENV NODE_ENV=production
# Envoy calls from outside the container.
ENV SMG_GRPC_HOST=0.0.0.0
WORKDIR /app
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY package.json LICENSE ./
COPY bin ./bin
USER node
# gRPC for Envoy, admin API (on loopback unless --admin-host says otherwise)
EXPOSE 9002 9003
ENTRYPOINT ["node", "/app/bin/smg-envoy.js"]
CMD ["serve"]
