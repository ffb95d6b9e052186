import { authorize, may } from '../../authorization/permissions.ts'
import type { Context } from '../../context.ts'

/**
 * Correcting a key rewrites a question and its results, so it requires both permissions. Its pages show candidates' answers.
 *
 * @throws DomainError not_permitted.
 */
export function authorizeCorrections(ctx: Pick<Context, 'actor'>): void {
  authorize(ctx, 'write_assessments')
  authorize(ctx, 'release_results')
}

export const mayCorrect = (ctx: Pick<Context, 'actor'>): boolean => may(ctx, 'write_assessments') && may(ctx, 'release_results')
