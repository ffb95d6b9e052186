import { readFile } from 'node:fs/promises'
import { createApiKey, createApiKeyUnlessNamed } from '../domain/api-keys/api-keys.ts'
import { listAssessments, wholeAssessment } from '../domain/assessments/assessments.ts'
import { createFromTemplate } from '../domain/assessments/templates.ts'
import { assetAddress } from '../domain/assets/references.ts'
import { storeFile } from '../domain/assets/store-file.ts'
import { type Context, enterOrganization, type ServiceContext } from '../domain/context.ts'
import { createInvite } from '../domain/invites/create-invite.ts'
import { inviteMember } from '../domain/members/invite-member.ts'
import { changeOpenLink } from '../domain/open-links/open-links.ts'
import { caseKey } from '../domain/text/fold-text.ts'
import { importDocument } from '../import/import-document.ts'
import { readDocument } from '../import/read-document.ts'
import { shippedTemplates } from '../templates/templates.ts'
import document from './organization.json' with { type: 'json' }
import { addPastInvites } from './past-invites.ts'
import type { Grader } from './past-submissions.ts'
import { withClockAt } from './replay-steps.ts'

/** The demo organization. */
export type Demo = {
  organization: { id: string; name: string }
  /** Shown once. */
  key: string
  testKey: string
  assessmentId: string
  /** Link by which anybody starts one of the assessments. */
  openLink: string
  /** Link by which the admin sets a password for the portal. */
  portalLink: { email: string; url: string }
}

const { name, assessments } = document.organizations[0]!
const ADMIN = 'priya.raman@northwind.example'
const GRADERS = ['jonas.keller@northwind.example', 'mei.tanaka@northwind.example'] as const
/** The practice assessment, which is scored automatically. */
const PRACTICE = 'Office basics, auto-scored'
const PUBLIC_ASSESSMENT = assessments.find((assessment) => assessment.audience === 'public')!.name
const INVITED_ASSESSMENT = assessments.find((assessment) => assessment.name !== PRACTICE)!.name
export const DEMO_NAME = name

/**
 * Creates the demo organization: members, tags, assessments, API keys, invites of the last month in all states, a captured invitation, and an open
 * link.
 *
 * @returns null if an organization of its name exists, or another process creates it at the same time.
 */
export async function loadDemo(service: ServiceContext): Promise<Demo | null> {
  const existing = await service.db.organization.findUnique({ where: { nameKey: caseKey(name) } })
  if (existing) return null
  const { organizations } = await importDocument(service, readDocument(chooseDocument(service)))
  const { id: organizationId } = organizations[0]!
  await service.db.assessment.updateMany({ where: { organizationId, name: PRACTICE }, data: { practice: true } })
  const memberOf = (email: string) => service.db.member.findFirstOrThrow({ where: { organizationId, email } })
  const [admin, first, second] = [await memberOf(ADMIN), await memberOf(GRADERS[0]), await memberOf(GRADERS[1])]
  const createdById = admin.id
  const created = await createApiKeyUnlessNamed(service, { organizationId, name: 'Demo', mode: 'live', createdById })
  if (!created) return null
  const { key, apiKey } = created
  const { key: testKey } = await createApiKey(service, { organizationId, name: 'Demo, test', mode: 'test', createdById })
  const organization = await service.db.organization.findUniqueOrThrow({ where: { id: organizationId } })
  const operator: Context = { ...enterOrganization(service, organization), actor: { kind: 'operator' } }
  const { url } = await inviteMember(operator, { email: admin.email, roles: ['admin'], mails: false })
  const ctx: Context = {
    ...operator,
    actor: { kind: 'apiKey', id: apiKey.id, createdById, mode: 'live' },
  }
  await addTemplates(operator, admin)
  const { items } = await listAssessments(ctx, wholeAssessment, {}, { field: 'name', direction: 'asc' }, { number: 1, size: 100 })
  const idOf = (assessmentName: string) => items.find((assessment) => assessment.name === assessmentName)!.id
  const assessmentId = idOf(INVITED_ASSESSMENT)
  await addPrompts(ctx)
  await addPastInvites(ctx, { assessments: items, graders: { admin, first, second }, createdById })
  const invite = await createInvite(ctx, {
    assessmentId,
    recipientEmail: 'candidate@example.com',
    recipientName: 'Sam Rivera',
    questionReplayLimit: 2,
    requireIdCapture: false,
    customMessage: 'We look forward to hearing you.',
    sendEmail: false,
  })
  // Captured, because nobody is behind the address.
  const [sentAt, linkVersion] = [invite.createdAt, invite.linkVersion]
  const times = { createdAt: sentAt, updatedAt: sentAt, sentAt }
  await service.db.inviteEmail.create({
    data: { id: service.deps.newId(), organizationId, inviteId: invite.id, linkVersion, state: 'captured', ...times },
  })
  const openLink = await changeOpenLink(operator, idOf(PUBLIC_ASSESSMENT), { isOn: true, dailyInvites: 20 })
  return {
    organization: { id: organizationId, name },
    ...{ key, testKey, assessmentId },
    openLink: openLink.url!,
    portalLink: { email: admin.email, url },
  }
}

/** Durations of the questions' media in milliseconds, by file name in `media/`. The document refers to these names. */
const PROMPTS = {
  'late-lamp.m4a': 5_946,
  'charged-twice.m4a': 7_086,
  'handover.mp4': 28_834,
  'pick-up.mp4': 6_250,
  'we-have-somebody.mp4': 5_500,
}

async function addPrompts(ctx: Context): Promise<void> {
  for (const [file, milliseconds] of Object.entries(PROMPTS)) {
    const content = await readFile(new URL(`media/${file}`, import.meta.url))
    const [kind, column] = file.endsWith('.mp4') ? (['video', 'videoUrl'] as const) : (['audio', 'audioUrl'] as const)
    const asset = await storeFile(ctx, kind, { contentType: `${kind}/mp4`, milliseconds, content })
    if (!asset) throw new Error('There is no room for the media of the demo.')
    const data = { [column]: assetAddress(asset.id), assetIds: [asset.id] }
    await ctx.db.question.updateMany({ where: { organizationId: ctx.organization.id, [column]: file }, data })
  }
}

/** Templates that the admin has started from, before the first invite. The first one's candidates are graded by its rubric. */
const TEMPLATES = ['customer-support', 'translation']
const CREATED_DAYS_AGO = 40

async function addTemplates(operator: Context, { id, userId, roles }: Grader): Promise<void> {
  const createdAt = operator.deps.clock().getTime() - CREATED_DAYS_AGO * 86_400_000
  const ctx = withClockAt<Context>({ ...operator, actor: { kind: 'member', id, userId, roles } }, createdAt)
  for (const template of shippedTemplates())
    if (TEMPLATES.includes(template.name) && template.language === 'en') await createFromTemplate(ctx, template)
}

/** Leaves out the automatically scored assessment if candidates use another player, which could not show it. */
function chooseDocument({ deps }: ServiceContext): unknown {
  if (deps.hasOwnPlayer) return document
  const [organization] = document.organizations
  return { organizations: [{ ...organization!, assessments: assessments.filter((assessment) => assessment.name !== PRACTICE) }] }
}

/** Explains the demo on a terminal. @param v1 URL of the v1 interface. */
export const describeDemo = (v1: string, { organization, key, testKey, assessmentId, openLink, portalLink }: Demo): string => `
  For a first try there is an organization, ${organization.name}, with its API key, shown this once:

  ${key}

  List its assessments:
    curl -s -H 'x-api-key: ${key}' '${v1}/assessments'

  Invite somebody to one of them:
    curl -s -X POST -H 'x-api-key: ${key}' -H 'content-type: application/json' \\
      -d '{"assessmentId":"${assessmentId}","recipientEmail":"alex@example.com"}' '${v1}/invites'

  List the invites:
    curl -s -H 'x-api-key: ${key}' '${v1}/invites'

  Try everything with its test key, which mails nobody and which no live key sees anything of (docs/guides/quick-start.md):

  ${testKey}

  Start an assessment as a candidate, without an invite, by its open link:

  ${openLink}

  Sign in to the portal as its admin, ${portalLink.email}: this link, good once, sets a password

  ${portalLink.url}

`
