import type { Context } from '../../context.ts'
import { refuseSession } from './refuse-session.ts'
import type { PreparedSession } from './session.ts'

/**
 * Lets nobody go on whose screen has to be recorded and is not: from the first question to the last there is a recording that goes on,
 * unless the organization has waived it.
 *
 * @throws DomainError session_refused (not_shared).
 */
export async function requireSharedScreen(
  { db, organization }: Context,
  { invite, submission }: Pick<PreparedSession, 'invite' | 'submission'>,
): Promise<void> {
  if (!invite.screenRecording || invite.waivedChecks.includes('screen') || !submission.consentMedia.includes('screen')) return
  const where = { organizationId: organization.id, submissionId: submission.id, kind: 'screen', state: 'uploading' } as const
  if ((await db.mediaFile.count({ where })) === 0) refuseSession('not_shared')
}
