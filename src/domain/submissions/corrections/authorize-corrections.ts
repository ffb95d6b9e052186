import { authorize, may } from '../../authorization/permissions.ts'
import type { Context } from '../../context.ts'

/**
 * A corrected key is a question that is written anew, and results that are: who corrects one may both. Its pages show what candidates have
 * answered.
 *
 * @throws DomainError not_permitted.
 */
export function authorizeCorrections(ctx: Pick<Context, 'actor'>): void {
  authorize(ctx, 'write_assessments')
  authorize(ctx, 'release_results')
}

export const mayCorrect = (ctx: Pick<Context, 'actor'>): boolean => may(ctx, 'write_assessments') && may(ctx, 'release_results')
