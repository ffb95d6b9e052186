import type { OrderProgress } from '../../../domain/ats/order-status.ts'
import type { Context } from '../../../domain/context.ts'

/** Says when the result was released, and its address. */
export function formatReleased({ deps, organization, mode }: Context, { result }: OrderProgress): string {
  if (!result) return 'The candidate has taken this assessment.'
  const address = deps.links.resultUrl({ organization, mode, submissionId: result.submissionId })
  return `The candidate has taken this assessment, and the result was released on ${result.at.toISOString().slice(0, 10)}: ${address}`
}
