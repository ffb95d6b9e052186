declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  type Grant = { addOIDCScope: (scopes: string) => void; save: () => Promise<string> }
  type KoaContext = { path: string; body: unknown; oidc: { client?: { clientId: string }; session?: { accountId?: string } } }

  /** The part of the class that tests use. */
  export class Provider {
    constructor(
      issuer: string,
      configuration: Record<string, unknown> & { loadExistingGrant?: (ctx: KoaContext) => Promise<Grant> },
    )
    Grant: new (of: {
      clientId: string
      accountId: string
    }) => Grant
    use: (middleware: (ctx: KoaContext, next: () => Promise<void>) => Promise<void>) => void
    callback: () => (request: IncomingMessage, response: ServerResponse) => void
    interactionFinished: (request: IncomingMessage, response: ServerResponse, result: object) => Promise<void>
  }
}
