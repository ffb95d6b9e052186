import 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True if the route requires authentication within the last 15 minutes. */
    requiresRecentAuthentication?: boolean
  }
}

/** Options of a route that requires recent authentication. */
export const RECENT_AUTHENTICATION = { config: { requiresRecentAuthentication: true } }
