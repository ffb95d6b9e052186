import { MAX_USER_AGENT_LENGTH } from '../limits.ts'
import { consentedMedia, type Needs } from './needs.ts'
import type { Session } from './session.ts'

/** Of the text that is consented to: raised whenever it changes in what it says. */
export const CONSENT_VERSION = 1

type Consent = { needs: Needs; userAgent: string }

/**
 * Keeps the candidate's consent. Before the start it begins the submission; of one that was begun without, it is kept with that. In any
 * other state it changes nothing.
 */
export async function giveConsent({ ctx, invite, submission }: Session, { needs, userAgent }: Consent): Promise<void> {
  const { db, deps, organization } = ctx
  const now = deps.clock()
  const media = consentedMedia(needs)
  const browser = userAgent.slice(0, MAX_USER_AGENT_LENGTH)
  if (submission?.state === 'in_progress') {
    const where = { organizationId: organization.id, id: submission.id, state: 'in_progress', consentAt: null } as const
    const consent = { consentVersion: CONSENT_VERSION, consentMedia: media, consentAt: now, userAgent: browser }
    await db.submission.updateMany({ where, data: { ...consent, updatedAt: now } })
    return
  }
  // One statement, for which the invite's row is held: a start at the same time comes before it, or after it.
  await db.$executeRaw`
    INSERT INTO submissions (
      id, organization_id, invite_id, assessment_id, consent_version, consent_media, consent_at, user_agent, question_replay_limit,
      answer_record_limit, created_at, updated_at
    )
    SELECT ${deps.newId()}::uuid, organization_id, id, assessment_id, ${CONSENT_VERSION}, ${media}::text[], ${now}, ${browser},
      question_replay_limit, answer_record_limit, ${now}, ${now}
    FROM invites
    WHERE organization_id = ${organization.id}::uuid AND id = ${invite.id}::uuid AND link_version = ${invite.linkVersion}
      AND status = 'accepted' AND expires_at > ${now}
    FOR NO KEY UPDATE
    ON CONFLICT (organization_id, invite_id) WHERE state = 'preparing' DO UPDATE SET
      consent_version = excluded.consent_version, consent_media = excluded.consent_media, consent_at = excluded.consent_at,
      user_agent = excluded.user_agent, updated_at = excluded.updated_at`
}
