import { createApiKey } from '../domain/access/api-keys.ts'
import { listAssessments } from '../domain/assessments/assessments.ts'
import type { Context, Deps } from '../domain/context.ts'
import { createInvite } from '../domain/invites/create.ts'
import { importDocument } from '../import/load.ts'
import { readDocument } from '../import/read.ts'
import { V1_PREFIX } from '../interfaces/v1/index.ts'
import organization from './organization.json' with { type: 'json' }

/** Where the service can be reached. */
export type Addresses = {
  /** Without a trailing slash. */
  baseUrl: string
  alternatePrefix: string
  showMailbox: boolean
}

type Demo = { key: string; assessmentId: string }

/**
 * Greets whoever has started the service on its embedded database: says where everything is and, in a database without any
 * organization, makes one to try it with: assessments, a key that is shown this once, and an invitation.
 */
export async function welcome(deps: Deps, addresses: Addresses): Promise<void> {
  const isFresh = (await deps.db.organization.count()) === 0
  const demo = isFresh ? await makeDemo(deps) : undefined
  process.stdout.write(describeAddresses(addresses) + (demo ? describeDemo(addresses, demo) : HOW_TO_MAKE_A_KEY))
}

async function makeDemo(deps: Deps): Promise<Demo> {
  const { organizations } = await importDocument(deps, readDocument(organization))
  const { id: organizationId } = organizations[0]!
  const { id: createdById } = await deps.db.member.findFirstOrThrow({ where: { organizationId, roles: { has: 'admin' } } })
  const { key, apiKey } = await createApiKey(deps, { organizationId, name: 'Demo', mode: 'live', createdById })
  const ctx: Context = {
    organization: await deps.db.organization.findUniqueOrThrow({ where: { id: organizationId } }),
    mode: apiKey.mode,
    apiKey: { id: apiKey.id, createdById },
    deps,
  }
  const assessments = await listAssessments(ctx, {}, { field: 'name', direction: 'asc' }, { number: 1, size: 100 })
  const first = organization.organizations[0]!.assessments[0]!
  const { id: assessmentId } = assessments.items.find(({ name }) => name === first.name)!
  await createInvite(ctx, {
    assessmentId,
    recipientEmail: 'candidate@example.com',
    recipientName: 'Sam Rivera',
    questionReplayLimit: 2,
    answerRecordLimit: 1,
    screenRecording: true,
    webcamMonitoring: true,
    requireIdCapture: false,
    facePhotoRequired: false,
    customMessage: 'We look forward to hearing you.',
  })
  return { key, assessmentId }
}

const describeAddresses = ({ baseUrl, alternatePrefix, showMailbox }: Addresses): string => `
  The Assessment Invitation Service is ready.

  API v1                ${baseUrl}${V1_PREFIX}
  Alternate interface   ${baseUrl}${alternatePrefix}
  Documents             ${baseUrl}/docs
${showMailbox ? `  Captured mails        ${baseUrl}/dev/mailbox\n` : ''}`

const describeDemo = ({ baseUrl }: Addresses, { key, assessmentId }: Demo): string => `
  For a first try there is an organization, Northwind Talent, with its API key, shown this once:

  ${key}

  List its assessments:
    curl -s -H 'x-api-key: ${key}' '${baseUrl}${V1_PREFIX}/assessments'

  Invite somebody to one of them:
    curl -s -X POST -H 'x-api-key: ${key}' -H 'content-type: application/json' \\
      -d '{"assessmentId":"${assessmentId}","recipientEmail":"alex@example.com"}' '${baseUrl}${V1_PREFIX}/invites'

  List the invites:
    curl -s -H 'x-api-key: ${key}' '${baseUrl}${V1_PREFIX}/invites'

`

const HOW_TO_MAKE_A_KEY = `
  Make an API key with:
    npm run cli -- org list
    npm run cli -- key create <organization> <name>

`
