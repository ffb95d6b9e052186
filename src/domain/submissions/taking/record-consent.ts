import { sql } from '../../../db/builder.ts'
import { scopeWhere } from '../../../db/queries.ts'
import { copyColumns, DEFAULT, insertFromSelect, timestamp, uuid } from '../../../db/writes.ts'
import { MAX_USER_AGENT_LENGTH } from '../../limits.ts'
import { consentScope, type Needs } from '../needs.ts'
import { UNSET } from './new-submission.ts'
import type { CandidateSession } from './session.ts'

/**
 * Version of the consent text in all languages. test/locales/catalogs.test.ts ties it to the words. Version 1 was several texts;
 * version 2 adds the browser, the retention of texts and mails, and the right to a copy; version 3 adds speech recognition.
 */
export const CONSENT_VERSION = 3

/** Accepted text: language, SHA-256 of the service's text, which a review may change, and the version of the organization's own text. */
type ShownConsentText = {
  language: string
  textHash: Uint8Array<ArrayBuffer>
  organizationText: { language: string; version: number } | null
}
/** @property shown omitted if the consent was given on the candidate's behalf. */
type Consent = { needs: Needs; userAgent: string; shown?: ShownConsentText }

/**
 * Records the candidate's consent. Before the start it creates the submission; a submission without consent gets it. Does nothing in other
 * states.
 */
export async function recordConsent(
  { ctx, invite, submission }: CandidateSession,
  { needs, userAgent, shown }: Consent,
): Promise<void> {
  const { db, deps } = ctx
  const now = deps.clock()
  const media = consentScope(needs)
  const browser = userAgent.slice(0, MAX_USER_AGENT_LENGTH)
  if (submission?.state === 'in_progress') {
    const where = { ...scopeWhere(ctx), id: submission.id, state: 'in_progress', consentAt: null } as const
    const words = {
      consentLanguage: shown?.language ?? null,
      consentTextHash: shown?.textHash ?? null,
      organizationConsentLanguage: shown?.organizationText?.language ?? null,
      organizationConsentVersion: shown?.organizationText?.version ?? null,
    }
    const consent = { consentVersion: CONSENT_VERSION, ...words, consentMedia: media, consentAt: now, userAgent: browser }
    await db.submission.updateMany({ where, data: { ...consent, updatedAt: now } })
    return
  }
  // One statement, for which the invite's row is held: a start at the same time comes before it, or after it.
  const accepted = ctx.db
    .selectFrom('invites')
    .where('invites.id', '=', invite.id)
    .where('invites.linkVersion', '=', invite.linkVersion)
    .where('invites.status', '=', 'accepted')
    .where('invites.expiresAt', '>', now)
    .forNoKeyUpdate()
  const begin = insertFromSelect(ctx.db, 'submissions', accepted, (eb) => ({
    ...UNSET,
    ...copyColumns(eb, 'organizationId', 'mode', 'assessmentId', 'questionReplayLimit', 'answerRecordLimit'),
    id: uuid(deps.newId()),
    inviteId: eb.ref('invites.id'),
    consentVersion: sql<number>`${CONSENT_VERSION}::smallint`,
    consentMedia: sql<string[]>`${media}::text[]`,
    consentAt: timestamp(now),
    consentLanguage: sql<string | null>`${shown?.language ?? null}::text`,
    consentTextHash: sql<Uint8Array<ArrayBuffer> | null>`${shown?.textHash ?? null}::bytea`,
    organizationConsentLanguage: sql<string | null>`${shown?.organizationText?.language ?? null}::text`,
    organizationConsentVersion: sql<number | null>`${shown?.organizationText?.version ?? null}::integer`,
    userAgent: sql<string>`${browser}::text`,
    createdAt: timestamp(now),
    updatedAt: timestamp(now),
    state: DEFAULT,
    startedAt: DEFAULT,
    deadlineAt: DEFAULT,
    extraTimePercent: DEFAULT,
    mediaDeletionDueAt: timestamp(now),
  }))
  const upsert = begin.onConflict((conflict) =>
    conflict
      .columns(['organizationId', 'inviteId'])
      .where('state', '=', sql.lit('preparing'))
      .doUpdateSet(({ ref }) => ({
        consentVersion: ref('excluded.consentVersion'),
        consentMedia: ref('excluded.consentMedia'),
        consentLanguage: ref('excluded.consentLanguage'),
        consentTextHash: ref('excluded.consentTextHash'),
        organizationConsentLanguage: ref('excluded.organizationConsentLanguage'),
        organizationConsentVersion: ref('excluded.organizationConsentVersion'),
        consentAt: ref('excluded.consentAt'),
        userAgent: ref('excluded.userAgent'),
        updatedAt: ref('excluded.updatedAt'),
      })),
  )
  await upsert.execute()
}
