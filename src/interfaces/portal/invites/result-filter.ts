import { isDecision } from '../../../domain/invites/decisions/decision-names.ts'
import type { ResultFilter } from '../../../domain/submissions/grading/result-list.ts'
import { isUuid } from '../../../domain/text/uuid.ts'
import { readFields } from '../kit/forms.ts'
import { readNumber } from './new-invite.page.ts'

/** Parameters of the list that are filters. */
export const RESULT_FILTERS = ['assessment', 'tag', 'minPercent', 'decision', 'band', 'knockedOut'] as const

/** @returns the filter of the list's form; a minimum that is no whole number becomes one that is refused. */
export function readResultFilter(values: URLSearchParams): ResultFilter {
  const { assessment, tag, minPercent, decision, band, knockedOut } = readFields(values, ...RESULT_FILTERS)
  return {
    assessmentId: isUuid(assessment) ? assessment : undefined,
    tagId: isUuid(tag) ? tag : undefined,
    decision: isDecision(decision) ? decision : undefined,
    band: band || undefined,
    knockedOut: knockedOut === 'yes' || knockedOut === 'no' ? knockedOut : undefined,
    minPercent: minPercent === '' ? undefined : (readNumber(minPercent) ?? -1),
  }
}
