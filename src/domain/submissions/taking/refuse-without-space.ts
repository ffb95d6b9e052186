import { lacksSpace } from '../../assets/lacks-space.ts'
import type { Context } from '../../context.ts'
import { MAX_SUBMISSION_BYTES } from '../../limits.ts'
import { refuseSession } from './refuse-session.ts'

/**
 * Refuses to start if there is no space for the recordings, in the organization's quota or on the disk.
 *
 * @throws DomainError session_refused (quota).
 */
export async function refuseWithoutSpace(ctx: Context): Promise<void> {
  if (await lacksSpace(ctx, MAX_SUBMISSION_BYTES)) refuseSession('quota')
}
