import type { CorrectionCounts } from '../../../domain/submissions/corrections/rescore.ts'
import { type Html, html } from '../../../html/html.ts'
import { formatCount } from '../../../http/pages/candidate-view.ts'

/** Effects of a correction on live and test data, which share the key. */
export const correctionCounts = ({ live, test }: Record<'live' | 'test', CorrectionCounts>): Html =>
  html`${live.handedIn > 0 && formatCounts('Live data.', live)}${test.handedIn > 0 && formatCounts('Test data.', test)}`

function formatCounts(label: string, counts: CorrectionCounts): Html {
  const { handedIn: submitted, more, less, same, open, uncounted, decided, released } = counts
  const format = (count: number) => count.toLocaleString('en')
  const getsMore = (count: number) => `${format(count)} ${count === 1 ? 'gets' : 'get'} more`
  const { releasedMore, releasedLess, releasedOpen } = counts
  const isOpen = releasedOpen === 1 ? 'needs a grader, and stays as it is' : 'need a grader, and stay as they are'
  const ofReleased = `: of these ${getsMore(releasedMore)}, ${format(releasedLess)} less${releasedOpen > 0 ? `, ${format(releasedOpen)} ${isOpen}` : ''}`
  const parts = [
    getsMore(more),
    `${format(less)} less`,
    `${format(same)} the same`,
    open > 0 && `${format(open)} ${open === 1 ? 'needs' : 'need'} a grader`,
    uncounted > 0 && `${format(uncounted)} ${uncounted === 1 ? 'is' : 'are'} not released yet, and won’t count it`,
  ].filter((part) => part !== false)
  return html`<p><strong>${label}</strong> Of ${formatCount(submitted, 'answer')} submitted, ${parts.join(', ')}. ${format(released)} ${released === 1 ? 'is' : 'are'} released${released > 0 && ofReleased}. ${format(decided)} ${decided === 1 ? 'was' : 'were'} decided by a person, and ${decided === 1 ? 'stays' : 'stay'}.</p>`
}
