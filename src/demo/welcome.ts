import type { ServiceContext } from '../domain/context.ts'
import { V1_PREFIX } from '../interfaces/v1/index.ts'
import { describeDemo, loadDemo } from './load.ts'

/** Where the service can be reached. */
export type Addresses = {
  /** Without a trailing slash. */
  baseUrl: string
  alternatePrefix: string
  showMailbox: boolean
}

/**
 * Greets whoever has started the service on its embedded database: says where everything is and, in a database without any
 * organization, makes one to try it with.
 */
export async function welcome(service: ServiceContext, addresses: Addresses): Promise<void> {
  const isFresh = (await service.db.organization.count()) === 0
  const demo = isFresh ? await loadDemo(service) : null
  process.stdout.write(describeAddresses(addresses) + (demo ? describeDemo(addresses.baseUrl, demo) : HOW_TO_MAKE_A_KEY))
}

const describeAddresses = ({ baseUrl, alternatePrefix, showMailbox }: Addresses): string => `
  The Assessment Invitation Service is ready.

  API v1                ${baseUrl}${V1_PREFIX}
  Alternate interface   ${baseUrl}${alternatePrefix}
  Documents             ${baseUrl}/docs
${showMailbox ? `  Captured mails        ${baseUrl}/dev/mailbox\n` : ''}`

const HOW_TO_MAKE_A_KEY = `
  Make an API key with:
    npm run cli -- org list
    npm run cli -- key create <organization> <name>

`
