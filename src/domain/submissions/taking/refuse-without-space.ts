import { lacksSpace } from '../../assets/lacks-space.ts'
import type { Context } from '../../context.ts'
import { MAX_SUBMISSION_BYTES } from '../../limits.ts'
import { refuseSession } from './refuse-session.ts'

/**
 * Lets nobody begin what could not be kept to its end: neither beyond the organization's quota, nor on a disk with no room for a submission.
 *
 * @throws DomainError session_refused (quota).
 */
export async function refuseWithoutSpace(ctx: Context): Promise<void> {
  if (await lacksSpace(ctx, MAX_SUBMISSION_BYTES)) refuseSession('quota')
}
