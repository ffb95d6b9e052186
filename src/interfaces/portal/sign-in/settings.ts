import type { ServiceContext } from '../../../domain/context.ts'
import type { SessionCookie } from './session.ts'

/** Getters: with PORT=0, the address is known only after the service listens. */
export type PortalSettings = { readonly publicUrl: string; readonly secretKeys: readonly string[] }

/** Dependencies of pages outside of an organization. */
export type Portal = { system: ServiceContext; settings: PortalSettings; cookie: SessionCookie }
