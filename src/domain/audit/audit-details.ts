import type { Prisma } from '../../generated/prisma/client.ts'

/** Details of audit entries, by name. The portal labels each. */
const AUDIT_FIELDS = [
  // Target of the action.
  ...(['name', 'assessment', 'assessmentId', 'graderId', 'assignedGraderId', 'tagId', 'language', 'kind', 'kinds'] as const),
  ...(['number', 'version', 'questions', 'invites', 'lists', 'rows', 'count', 'percent', 'until'] as const),
  ...(['reason', 'why', 'was', 'what', 'path', 'before', 'after', 'changed', 'corrected', 'change'] as const),
  // Members, and how they sign in.
  ...(['roles', 'portalRoles', 'proofs', 'provider', 'issuer', 'problem', 'claim', 'email', 'subject', 'by', 'domain'] as const),
  ...(['shared', 'unshared', 'gradingLanguages', 'canViewTranscription'] as const),
  ...([
    'signInException',
    'isInUse',
    'untried',
    'clientId',
    'clientAuth',
    'clientSecret',
    'secretExpiresAt',
    'requiredClaims',
  ] as const),
  ...(['provisionsMembers', 'defaultRoles', 'secondFactor', 'acrValues', 'logsOutAtProvider'] as const),
  // Settings of an organization.
  ...(['secondFactorFrom', 'trustedDeviceDays', 'idleMinutes', 'sessionHours', 'networks', 'auditRetentionDays'] as const),
  ...(['apiKeyNetworks', 'apiKeyMaxDays', 'scopes', 'rights', 'requestsPerMinute'] as const),
  ...(['senderName', 'replyTo', 'invitationText', 'returnHosts', 'languagesOffered', 'timeZone'] as const),
  ...(['mainTemplateLanguage', 'primaryColor', 'backgroundColor', 'logoHash', 'imprint', 'privacy', 'contact'] as const),
  ...(['consentVersion', 'completed', 'expired', 'revoked', 'submitted', 'released', 'isOn', 'steps', 'isOwn'] as const),
  ...(['openInvites', 'decision', 'shows', 'results', 'band', 'knockedOut'] as const),
  // Invites and submissions.
  ...(['recipientName', 'customMessage', 'questionReplayLimit', 'answerRecordLimit', 'expiresInDays'] as const),
  ...(['expiresOn', 'addedDays', 'includesStarted', 'isEmailed', 'sendsAgain'] as const),
  ...(['requirement', 'toCandidate', 'keyNumber', 'effect', 'releases'] as const),
  // Open links.
  ...(['opensAt', 'closesAt', 'maxInvites', 'emailDomains', 'tagIds', 'inviteDays', 'dailyInvites', 'notifiesMembers'] as const),
  // Other systems.
  ...(['ats', 'mode', 'host', 'event'] as const),
  // Filters of an export.
  ...(['status', 'role', 'search', 'searched', 'category', 'who', 'action', 'from', 'to', 'minPercent'] as const),
] as const
export type AuditField = (typeof AUDIT_FIELDS)[number]

/**
 * Names, ids, numbers, our own words, lists of these, or their values before and after. No secrets, and no candidate's address. `changed`
 * and `corrected` contain names of fields.
 */
export type AuditDetails = Omit<{ [Field in AuditField]?: Prisma.InputJsonValue | null | undefined }, 'changed' | 'corrected'> & {
  changed?: readonly AuditField[]
  corrected?: readonly AuditField[]
}

/** Rejects unknown keys in details. TypeScript checks excess keys in literals only. */
export type ExactDetails<Details> = Details & {
  [Field in keyof Details]: Field extends keyof AuditDetails ? AuditDetails[Field] : never
}

/** Details that are put together field by field. */
export const toAuditDetails = (
  entries: readonly (readonly [field: AuditField, value: Prisma.InputJsonValue | null])[],
): AuditDetails => Object.fromEntries(entries) as AuditDetails
