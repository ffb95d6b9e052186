import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from '../../db/builder.ts'
import { anyOfIds, deleteSome, type TenantTable } from '../../db/queries.ts'
import { affectedRows } from '../../db/statements.ts'
import { unscoped } from '../../db/unscoped.ts'
import { repeatBatch } from '../concurrency/bisect.ts'
import type { Context } from '../context.ts'
import { folderOf } from '../files/media-keys.ts'
import { purgeMailEvents } from '../mails/mail-events.ts'
import { purgeOutageReason } from '../mails/mail-outage.ts'
import { inTransaction } from '../transaction.ts'
import { deleteInvites } from './delete-invites.ts'
import { type OrganizationCounts, writeOrganizationReceipt } from './organization-receipts.ts'
import { purgeAccountTraces } from './purge-account-traces.ts'

// Erases an organization in parts, so that no statement takes long or blocks other writes. A repeated part finds nothing left.

/** Tables of an organization in order of deletion, with the batch size. `along`: deleted with the rows they refer to, which have few. */
const ROWS: Record<TenantTable, number | 'along'> = {
  // With each invite goes all that hangs on it, which is a page or two.
  invites: 50,
  ...{
    submissions: 'along',
    answerAttempts: 'along',
    mediaFiles: 'along',
    mediaFileParts: 'along',
    transcripts: 'along',
    submissionQuestions: 'along',
    submissionSections: 'along',
  },
  ...{ questionScores: 'along', grades: 'along', releases: 'along', sessionEvents: 'along' },
  ...{ gradingAssignments: 'along', gradingNotes: 'along', gradingViewers: 'along', sharedResults: 'along' },
  shareLinks: 500,
  ...{ inviteTags: 'along', inviteEmails: 'along', atsOrders: 'along' },
  registrations: 2_000,
  openLinkRefusals: 2_000,
  openLinks: 500,
  openLinkTags: 'along',
  inviteBatchRows: 2_000,
  inviteBatches: 100,
  bulkChangeRows: 2_000,
  bulkChanges: 100,
  atsReports: 1_000,
  atsCalls: 1_000,
  webhookAttempts: 2_000,
  webhookDeliveries: 2_000,
  events: 2_000,
  idempotencyRecords: 2_000,
  suppressions: 2_000,
  erasedInvites: 2_000,
  erasedResults: 2_000,
  erasedInviteCounts: 2_000,
  erasures: 1_000,
  memberEmails: 2_000,
  archives: 500,
  questions: 500,
  assessmentPools: 500,
  assessmentSections: 500,
  libraryVersions: 500,
  answerKeys: 500,
  questionVersions: 500,
  questionResults: 1_000,
  mailTemplates: 500,
  reminderRules: 500,
  consentTexts: 500,
  assessmentClients: 1_000,
  assessmentTags: 1_000,
  assessmentInviteCounts: 1_000,
  assessments: 50,
  ...{ assessmentCategories: 'along', assessmentLanguages: 'along' },
  libraryImportRows: 1_000,
  libraryQuestions: 500,
  libraryImports: 100,
  importFiles: 10,
  importMappings: 1_000,
  libraryCategories: 500,
  assetParts: 1_000,
  captions: 500,
  assets: 100,
  memberTags: 1_000,
  tags: 500,
  tagInviteCounts: 'along',
  categories: 500,
  instructions: 500,
  savedFilters: 1_000,
  atsKeys: 100,
  atsConnections: 100,
  webhookEndpoints: 100,
  apiKeys: 500,
  auditEntries: 2_000,
  identities: 500,
  accountLinks: 1_000,
  ownershipOffers: 500,
  // Deleted one by one with their accounts, see eraseMembers.
  members: 'along',
  memberGradingLanguages: 'along',
  organizationDailyInviteCounts: 2_000,
  // A few rows each, deleted with the organization.
  ...{ organizationInviteCounts: 'along', organizationMediaBytes: 'along', organizationSecurity: 'along' },
  ...{ signInProviders: 'along', signInDomains: 'along', organizationSuspensions: 'along', organizationRetention: 'along' },
}

/** Media, emails, and members per statement. */
const MEDIA_AT_ONCE = 500
const MAILS_AT_ONCE = 500
const MEMBERS_AT_ONCE = 20
/** Time limit for running jobs of the organization. */
const PATIENCE_MS = 30_000
const PAUSE_MS = 500

type OrganizationErasure = { ctx: Context; suspensionId: string }

/**
 * Erases a suspended organization: media, rows, members, and accounts without another organization. The receipt is written last.
 *
 * @throws errors of the store, the database, or the erasure log. The job is retried.
 */
export async function eraseOrganization(ctx: Context, suspensionId: string): Promise<void> {
  const erasing: OrganizationErasure = { ctx, suspensionId }
  await purgeJobs(ctx)
  await eraseFiles(erasing)
  await purgeMails(ctx)
  await repeatBatch(ROWS.invites as number, (atMost) => eraseInviteBatch(erasing, atMost))
  for (const [table, atOnce] of Object.entries(ROWS) as [TenantTable, number | 'along'][])
    if (table !== 'invites' && atOnce !== 'along') await repeatBatch(atOnce, (atMost) => eraseRows(erasing, table, atMost))
  await repeatBatch(MEMBERS_AT_ONCE, (atMost) => eraseMembers(erasing, atMost))
  await purgeJobs(ctx)
  await ctx.deps.media.deletePrefix(folderOf(ctx.organization.id))
  await purgeOutageReason(ctx, '.') // of any email: the affected one is unknown
  await writeOrganizationReceipt(ctx, suspensionId)
  ctx.deps.log.info({ organizationId: ctx.organization.id, receipt: suspensionId }, 'an organization is erased')
}

/** Erases a part and adds its counts, in one transaction. Other processes that erase the organization wait. */
const countErased = (
  { ctx, suspensionId }: OrganizationErasure,
  work: (inside: Context) => Promise<OrganizationCounts>,
): Promise<OrganizationCounts> =>
  inTransaction(ctx, async (inside) => {
    const suspension = inside.db.selectFrom('organizationSuspensions').where('id', '=', suspensionId)
    const row = await suspension.select('counts').forUpdate().executeTakeFirst()
    if (!row) return {}
    const erasedCounts = await work(inside)
    const counts: OrganizationCounts = { ...(row.counts as OrganizationCounts) }
    for (const [kind, count] of Object.entries(erasedCounts) as [keyof OrganizationCounts, number][])
      counts[kind] = (counts[kind] ?? 0) + count
    await inside.db
      .updateTable('organizationSuspensions')
      .set({ counts: sql`${JSON.stringify(counts)}::jsonb` })
      .execute()
    return erasedCounts
  })

/** Deletes waiting jobs. @throws Error while a job runs for longer than that. */
async function purgeJobs({ organization, deps }: Context): Promise<void> {
  for (const until = performance.now() + PATIENCE_MS; ; await sleep(PAUSE_MS)) {
    if ((await deps.queue.purgeOrganization(organization.id)) === 0) return
    if (performance.now() > until) throw new Error('Something is still being done for the organization')
  }
}

/** Deletes the organization's files from the store, then the rows of photos and recordings. @throws errors of the store. */
async function eraseFiles(erasing: OrganizationErasure): Promise<void> {
  const { deps, organization } = erasing.ctx
  await deps.media.deletePrefix(folderOf(organization.id))
  await repeatBatch(MEDIA_AT_ONCE, async (atMost) => {
    let found = 0
    await countErased(erasing, async (inside) => {
      const batch = inside.db.selectFrom('mediaFiles').where('removedAt', 'is', null).select('id').limit(atMost)
      const ids = (await batch.execute()).map(({ id }) => id)
      found = ids.length
      const marking = inside.db.updateTable('mediaFiles').where('id', '=', anyOfIds(ids))
      const now = inside.deps.clock()
      const media = await affectedRows(marking.where('state', '<>', 'deleted').set({ state: 'deleted', deletedAt: now }))
      await marking.set({ removedAt: now }).execute()
      return { media }
    })
    return found
  })
}

/** Deletes reports about the organization's mails. */
async function purgeMails(ctx: Context): Promise<void> {
  for (const table of ['inviteEmails', 'memberEmails', 'registrations'] as const)
    for (let last: string | undefined; ; ) {
      let page = ctx.db.selectFrom(table as 'memberEmails')
      if (last !== undefined) page = page.where('id', '>', last)
      const ids = (await page.select('id').orderBy('id').limit(MAILS_AT_ONCE).execute()).map(({ id }) => id)
      await purgeMailEvents(ctx, ids)
      last = ids.at(-1)
      if (ids.length < MAILS_AT_ONCE) break
    }
}

async function eraseInviteBatch(erasing: OrganizationErasure, atMost: number): Promise<number> {
  const erasedCounts = await countErased(erasing, async (inside) => {
    const batch = inside.db.selectFrom('invites').select('id').limit(atMost)
    const ids = (await batch.forUpdate().execute()).map(({ id }) => id)
    const { invites, submissions } = await deleteInvites(inside, ids)
    return { invites, submissions }
  })
  return erasedCounts.invites ?? 0
}

async function eraseRows(erasing: OrganizationErasure, table: TenantTable, atMost: number): Promise<number> {
  const erasedCounts = await countErased(erasing, async (inside) => {
    const rows = await affectedRows(deleteSome(inside.db, table, atMost))
    return table === 'assessments' ? { assessments: rows } : { otherRows: rows }
  })
  return erasedCounts.assessments ?? erasedCounts.otherRows ?? 0
}

/** Deletes members, and accounts without another organization. Accounts that stay lose everything that refers to this one. */
async function eraseMembers(erasing: OrganizationErasure, atMost: number): Promise<number> {
  const erasedCounts = await countErased(erasing, async (inside) => {
    const { db, organization } = inside
    const batch = inside.db.selectFrom('members').select(['id', 'userId', 'credentialId']).limit(atMost).forUpdate()
    const members = await batch.execute()
    const credentialIds = members.flatMap(({ credentialId }) => credentialId ?? [])
    // Joining another organization with this account waits for this transaction.
    const credentialsOfMembers = unscoped(inside.db)
      .selectFrom('credentials')
      .where('id', '=', anyOfIds(credentialIds))
      .select('id')
      .orderBy('id')
    await credentialsOfMembers.forUpdate().execute()
    await purgeAccountTraces(inside, credentialIds)
    await db.member.deleteMany({ where: { organizationId: organization.id, id: { in: members.map(({ id }) => id) } } })
    const isNobodys = { memberships: { none: {} } }
    await db.user.deleteMany({ where: { id: { in: members.map(({ userId }) => userId) }, ...isNobodys } })
    const { count: accounts } = await db.credential.deleteMany({ where: { id: { in: credentialIds }, ...isNobodys } })
    return { members: members.length, accounts }
  })
  return erasedCounts.members ?? 0
}
