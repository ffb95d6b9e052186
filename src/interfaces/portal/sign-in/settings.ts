import type { ServiceContext } from '../../../domain/context.ts'
import type { SessionCookie } from './session.ts'

/** Read when they are needed: with PORT=0 the address is known only when the service listens. */
export type PortalSettings = { readonly publicUrl: string; readonly secretKeys: readonly string[] }

/** What the pages outside of an organization work with. */
export type Portal = { system: ServiceContext; settings: PortalSettings; cookie: SessionCookie }
