import type { Tables } from '../generated/kysely/tables.ts'

export type Mode = 'live' | 'test' | 'all'
/** Organization and mode that queries are limited to. */
export type Scope = { organization: { id: string }; mode: Mode }

/** Tables whose rows belong to an organization. */
export type TenantTable = { [T in keyof Tables]: Tables[T] extends { organizationId: unknown } ? T : never }[keyof Tables]
type TableWithMode = { [T in TenantTable]: Tables[T] extends { mode: unknown } ? T : never }[TenantTable]

/**
 * Scope of each table: the organization, or the organization and mode (live or test data). API keys, webhook endpoints, and ATS connections
 * also have a mode, but it says which data they are for. In the audit log it says which data was changed.
 */
export const TENANT_TABLES = {
  accountLinks: 'organization',
  answerAttempts: 'organization',
  answerKeys: 'organization',
  apiKeys: 'organization',
  archives: 'organization',
  assessmentCategories: 'organization',
  assessmentClients: 'organization',
  assessmentInviteCounts: 'mode',
  assessmentLanguages: 'organization',
  assessmentPools: 'organization',
  assessmentSections: 'organization',
  assessmentTags: 'organization',
  assessments: 'organization',
  assetParts: 'organization',
  assets: 'organization',
  atsCalls: 'organization',
  atsConnections: 'organization',
  atsKeys: 'organization',
  atsOrders: 'organization',
  atsReports: 'organization',
  auditEntries: 'organization',
  bulkChangeRows: 'organization',
  bulkChanges: 'mode',
  captions: 'organization',
  categories: 'organization',
  consentTexts: 'organization',
  erasedInviteCounts: 'mode',
  erasedInvites: 'mode',
  erasedResults: 'mode',
  erasures: 'organization',
  events: 'mode',
  grades: 'organization',
  gradingAssignments: 'organization',
  gradingNotes: 'organization',
  gradingViewers: 'organization',
  idempotencyRecords: 'organization',
  identities: 'organization',
  importFiles: 'mode',
  importMappings: 'organization',
  instructions: 'organization',
  inviteBatchRows: 'organization',
  inviteBatches: 'mode',
  inviteEmails: 'organization',
  inviteTags: 'mode',
  invites: 'mode',
  libraryCategories: 'organization',
  libraryImportRows: 'organization',
  libraryImports: 'organization',
  libraryQuestions: 'organization',
  libraryVersions: 'organization',
  mailTemplates: 'organization',
  mediaFileParts: 'organization',
  mediaFiles: 'organization',
  memberEmails: 'organization',
  memberGradingLanguages: 'organization',
  memberTags: 'organization',
  members: 'organization',
  openLinkRefusals: 'organization',
  openLinkTags: 'organization',
  openLinks: 'mode',
  organizationDailyInviteCounts: 'mode',
  organizationInviteCounts: 'mode',
  organizationMediaBytes: 'organization',
  organizationRetention: 'organization',
  organizationSecurity: 'organization',
  organizationSuspensions: 'organization',
  ownershipOffers: 'organization',
  questionResults: 'mode',
  questionScores: 'organization',
  questionVersions: 'organization',
  questions: 'organization',
  registrations: 'mode',
  releases: 'organization',
  reminderRules: 'organization',
  savedFilters: 'organization',
  sessionEvents: 'organization',
  shareLinks: 'mode',
  sharedResults: 'organization',
  signInDomains: 'organization',
  signInProviders: 'organization',
  submissionQuestions: 'organization',
  submissionSections: 'organization',
  submissions: 'mode',
  suppressions: 'mode',
  tagInviteCounts: 'mode',
  tags: 'mode',
  transcripts: 'organization',
  webhookAttempts: 'organization',
  webhookDeliveries: 'organization',
  webhookEndpoints: 'organization',
} as const satisfies Record<TenantTable, 'organization' | 'mode'> &
  Record<Exclude<TableWithMode, 'apiKeys' | 'webhookEndpoints' | 'atsConnections' | 'auditEntries'>, 'mode'>

/** Tables whose rows are limited by mode, too. */
export type ModeTable = { [T in TenantTable]: (typeof TENANT_TABLES)[T] extends 'mode' ? T : never }[TenantTable]

/** Tables whose live rows test data uses: a test scope reads both modes, and writes test rows only. */
export const LIVE_ROWS_IN_TEST: ReadonlySet<TenantTable> = new Set<ModeTable>(['tags'])
