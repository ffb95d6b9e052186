import type { Network } from './ip-networks.ts'

/** Private hosts and networks that outgoing requests may reach: the settings WEBHOOK_ALLOW and SSO_ALLOW. */
export type Allowance = { hosts: ReadonlySet<string>; networks: readonly Network[] }
