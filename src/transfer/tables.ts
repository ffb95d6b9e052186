import type { Tables } from '../db/queries.ts'

type Column<T extends keyof Tables> = keyof Tables[T] & string

/**
 * @property without columns that are omitted, with the reason. An import gives them their default, or computes them (import-row.ts).
 * @property as SQL that is exported in place of a column. @property where condition on the rows; `:organization` is the organization's id.
 * @property order columns that rows are sorted by, instead of their key.
 * @property totals the rows replace those that triggers have counted during the import, because they include erased data. They are summed by
 *   these columns; none: they are as they are.
 */
export type ExportedTable<C extends string = string> = {
  without?: { [Name in C]?: string }
  as?: { [Name in C]?: string }
  where?: string
  order?: readonly C[]
  totals?: { groupBy: readonly C[] }
}
/** A table that is not exported: what it is derived from, or why it is omitted. `listed`: column with the names of items to create again. */
export type OmittedTable<T extends keyof Tables = keyof Tables> =
  | { derivedFrom: string }
  | { leftBehind: string; listed?: Column<T> }

const SECRET = 'a secret of this installation'
const ACCOUNT = 'people prove their address to each installation by a mailed link'
const OPERATOR = "the operator's decision"
const DERIVED = 'computed from another column'
const COUNTED = 'counted by a trigger'
const ORDER = 'assigned by each installation'
const SEEN = 'about a request to this installation'

const WEBHOOKS = 'its secret stays here: create the webhook again'
const ATS = 'its keys stay here, and the system knows this address only: connect it again'
const SESSION = 'of a signed-in person'
const OF_SERVICE = 'belongs to the installation'
const SHORT_LIVED = 'deleted within days'

/** Exported tables in an order in which every row comes after the rows that it refers to. */
export const EXPORTED = {
  languages: {
    where: `id IN (SELECT language_id FROM assessment_languages WHERE organization_id = :organization
      UNION SELECT language_id FROM member_grading_languages WHERE organization_id = :organization)
      OR code IN (SELECT unnest(ARRAY[source_language, target_language]) FROM questions WHERE organization_id = :organization)`,
  },
  organizations: {
    without: {
      nameKey: DERIVED,
      tier: OPERATOR,
      mailsPerDay: OPERATOR,
      transcriptionHost: 'an agreement about a host of this installation',
      feedBeginsAt: ORDER,
    },
    where: 'id = :organization',
  },
  users: {
    without: {
      firstNameKey: DERIVED,
      lastNameKey: DERIVED,
      searchKey: DERIVED,
      orphanedSince: ACCOUNT,
      needsOrphanCheck: ACCOUNT,
    },
    where: 'id IN (SELECT user_id FROM members WHERE organization_id = :organization)',
  },
  members: { without: { credentialId: ACCOUNT, signInException: ACCOUNT, activeSince: ACCOUNT } },
  organizationSecurity: { without: { ssoEnforcedAt: 'its identity provider stays here' } },
  organizationRetention: {},
  categories: {},
  instructions: {},
  tags: { without: { nameKey: DERIVED, nameSearch: DERIVED } },
  memberTags: {},
  memberGradingLanguages: {},
  assets: { without: { key: SECRET, declaredParts: COUNTED, failedJoins: COUNTED }, where: `state = 'ready'` },
  captions: {
    where: `state = 'ready' AND asset_id IN (SELECT id FROM assets WHERE organization_id = :organization AND state = 'ready')`,
  },
  assessments: {
    without: { nameKey: DERIVED, nameSearch: DERIVED, questionCount: COUNTED, totalPoints: COUNTED, undrawnPoints: COUNTED },
  },
  assessmentSections: {},
  assessmentPools: {},
  assessmentLanguages: {},
  assessmentCategories: {},
  assessmentTags: {},
  assessmentClients: {},
  questionVersions: {},
  answerKeys: {},
  libraryCategories: {},
  libraryImports: {
    as: { finishedAt: 'CASE WHEN started_at IS NOT NULL THEN coalesce(finished_at, now()) END' },
    where: 'NOT is_loading',
  },
  libraryQuestions: { without: { nameWords: DERIVED, uses: COUNTED } },
  libraryVersions: {},
  libraryImportRows: {
    where: 'import_id IN (SELECT id FROM library_imports WHERE organization_id = :organization AND NOT is_loading)',
  },
  questions: {},
  importMappings: {},
  invites: {
    without: { recipientNameSearch: DERIVED, createdByKeyId: 'API keys are created again' },
  },
  inviteTags: { without: { mode: DERIVED, status: DERIVED, sentAt: DERIVED, expiresAt: DERIVED } },
  inviteBatches: {
    without: { createdByKeyId: 'API keys are created again' },
    as: {
      stoppedAt: 'CASE WHEN started_at IS NOT NULL AND finished_at IS NULL THEN coalesce(stopped_at, now()) ELSE stopped_at END',
    },
    where: 'NOT is_loading',
  },
  inviteBatchRows: {
    where: 'batch_id IN (SELECT id FROM invite_batches WHERE organization_id = :organization AND NOT is_loading)',
  },
  bulkChanges: { as: { stoppedAt: 'CASE WHEN finished_at IS NULL THEN coalesce(stopped_at, now()) ELSE stopped_at END' } },
  bulkChangeRows: {},
  savedFilters: {},
  openLinks: { without: { token: SECRET, isOn: 'its address is another one' } },
  openLinkTags: {},
  mailTemplates: {},
  reminderRules: {},
  consentTexts: {},
  suppressions: {},
  inviteEmails: { without: { delayedUntil: SHORT_LIVED }, where: `state <> 'queued'` },
  submissions: { without: { tab: SESSION, previousTabIds: SESSION } },
  submissionSections: {},
  submissionQuestions: {},
  mediaFiles: { without: { key: SECRET, refusedAt: SHORT_LIVED } },
  mediaFileParts: {},
  answerAttempts: {},
  sessionEvents: {},
  transcripts: { as: { state: `CASE WHEN state = 'queued' THEN 'waiting' ELSE state END` } },
  questionScores: {},
  grades: { without: { questionId: 'set by a trigger' } },
  gradingAssignments: {},
  gradingNotes: {},
  releases: {},
  shareLinks: {},
  sharedResults: {},
  events: { without: { sequence: ORDER, position: ORDER }, order: ['sequence'], where: `type <> 'webhook.test'` },
  auditEntries: { without: { position: ORDER, sessionId: SEEN, requestId: SEEN } },
  erasures: { without: { encryptedAddress: SECRET }, where: 'finished_at IS NOT NULL' },
  erasedInvites: {
    where: 'erasure_id IN (SELECT id FROM erasures WHERE organization_id = :organization AND finished_at IS NOT NULL)',
  },
  erasedInviteCounts: {},
  erasedResults: {},
  questionResults: { totals: { groupBy: [] } },
  organizationDailyInviteCounts: {
    as: { slot: '0', invited: 'sum(invited)', completed: 'sum(completed)' },
    totals: { groupBy: ['mode', 'day'] },
  },
} satisfies { [T in keyof Tables]?: ExportedTable<Column<T>> }

export const OMITTED = {
  apiKeys: { leftBehind: 'a key never leaves: create it again', listed: 'name' },
  webhookEndpoints: { leftBehind: WEBHOOKS, listed: 'url' },
  signInProviders: { leftBehind: 'its client secret stays here: connect it again', listed: 'name' },
  signInDomains: { leftBehind: 'each installation verifies a domain by itself', listed: 'domain' },
  atsConnections: { leftBehind: ATS, listed: 'ats' },

  organizationInviteCounts: { derivedFrom: 'invites' },
  assessmentInviteCounts: { derivedFrom: 'invites' },
  tagInviteCounts: { derivedFrom: 'inviteTags' },
  organizationMediaBytes: { derivedFrom: 'submissions and assets' },

  webhookDeliveries: { leftBehind: WEBHOOKS },
  webhookAttempts: { leftBehind: WEBHOOKS },
  atsKeys: { leftBehind: ATS },
  atsOrders: { leftBehind: ATS },
  atsReports: { leftBehind: ATS },
  atsCalls: { leftBehind: ATS },
  accountLinks: { leftBehind: ACCOUNT },
  identities: { leftBehind: ACCOUNT },
  memberEmails: { leftBehind: 'mails to members about this installation, with its links' },
  ownershipOffers: { leftBehind: 'an offer is answered by a link of this installation' },
  registrations: { leftBehind: 'unproven addresses, and links of this installation' },
  openLinkRefusals: { leftBehind: 'codes that only this installation can compare' },
  archives: { leftBehind: SHORT_LIVED },
  importFiles: { leftBehind: SHORT_LIVED },
  idempotencyRecords: { leftBehind: 'answers for repeated requests to this installation' },
  assetParts: { leftBehind: 'of uploads that have not been finished' },
  gradingViewers: { leftBehind: 'who has a page open at the moment' },
  organizationSuspensions: { leftBehind: OF_SERVICE },

  credentials: { leftBehind: ACCOUNT },
  recoveryCodes: { leftBehind: ACCOUNT },
  secondFactors: { leftBehind: ACCOUNT },
  devices: { leftBehind: SESSION },
  savedForms: { leftBehind: SESSION },
  sessions: { leftBehind: SESSION },
  sessionAuthentications: { leftBehind: SESSION },
  signInAttempts: { leftBehind: SESSION },
  usedTokens: { leftBehind: SESSION },
  atsFanout: { leftBehind: OF_SERVICE },
  auditSequence: { leftBehind: OF_SERVICE },
  deletedMediaFiles: { leftBehind: OF_SERVICE },
  eventSequence: { leftBehind: OF_SERVICE },
  mailEvents: { leftBehind: OF_SERVICE },
  mailOutages: { leftBehind: OF_SERVICE },
  missingEventPositions: { leftBehind: OF_SERVICE },
  secretFingerprints: { leftBehind: OF_SERVICE },
  sweepParts: { leftBehind: OF_SERVICE },
  webhookFanout: { leftBehind: OF_SERVICE },
} satisfies { [T in Exclude<keyof Tables, keyof typeof EXPORTED>]: OmittedTable<T> }

export type ExportedName = keyof typeof EXPORTED
export const exportedNames = Object.keys(EXPORTED) as ExportedName[]
export const policyOf = (table: ExportedName): ExportedTable => EXPORTED[table]
/** Names of columns in the database. */
export const snake = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
