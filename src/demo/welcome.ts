import type { ServiceContext } from '../domain/context.ts'
import { describeDemo, loadDemo } from './load-demo.ts'

/** URLs of the service's parts. */
export type ServiceUrls = {
  v1: string
  alternate: string
  docs: string
  portal: string
  /** undefined: not available. */
  mailbox: string | undefined
}

/** Prints the service's URLs. In a database without organizations it first creates the demo. */
export async function printWelcome(system: ServiceContext, addresses: ServiceUrls): Promise<void> {
  const isFresh = (await system.db.organization.count()) === 0
  const demo = isFresh ? await loadDemo(system) : null
  process.stdout.write(describeAddresses(addresses) + (demo ? describeDemo(addresses.v1, demo) : KEY_STEPS))
}

/** Prints the first steps if the database has no organization. */
export async function printFirstSteps({ db }: ServiceContext): Promise<void> {
  if ((await db.organization.count()) === 0) process.stdout.write(FIRST_STEPS)
}

const describeAddresses = ({ v1, alternate, docs, portal, mailbox }: ServiceUrls): string => `
  The Assessment Invitation Service is ready.

  API v1                ${v1}
  Alternate interface   ${alternate}
  Documents             ${docs}
  Portal                ${portal}
${mailbox ? `  Captured mails        ${mailbox}\n` : ''}`

const FIRST_STEPS = `
  There is no organization yet. Make one, its key, and a link by which its first admin joins the portal:
    npm run cli -- org create <organization>
    npm run cli -- key create <organization> <name>
    npm run cli -- member invite <organization> <email>

`

const KEY_STEPS = `
  Make an API key with:
    npm run cli -- org list
    npm run cli -- key create <organization> <name>

  Let somebody in to the portal with:
    npm run cli -- member invite <organization> <email>

`
