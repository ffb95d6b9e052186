import type { SessionProblem } from '../../../domain/errors.ts'
import type { AssessmentFacts } from '../../../domain/submissions/assessment-facts.ts'
import { CHECKS, PHOTOS, REQUIREMENTS, requirementsOf } from '../../../domain/submissions/needs.ts'
import type { Preparation } from '../../../domain/submissions/taking/read-progress.ts'
import type { Submission } from '../../../domain/submissions/taking/session.ts'
import { type Html, html } from '../../../html/html.ts'
import { preload } from '../kit/assets.ts'
import { button, notice, pathOf, type View } from '../kit/layout.ts'

type Prepared = {
  preparation: Preparation
  facts: AssessmentFacts
  submission: Pick<Submission, 'passedChecks'>
  refusal: SessionProblem | undefined
}

/**
 * Device check, photos and Start.
 *
 * @param refusal why Start, which has just been pressed, was refused.
 */
export function prepareSection(
  view: View,
  { preparation: { needs, photos, missing, penaltyPercent }, facts, submission, refusal }: Prepared,
): Html {
  const { t } = view
  const { waivedChecks, organization } = view.invite
  const requirements = requirementsOf(needs).filter((requirement) => !waivedChecks.includes(requirement))
  const list = (words: readonly string[]) => words.join(' ')
  const open = REQUIREMENTS.filter((requirement) => missing.includes(requirement))
  return html`<section class="mt-8" data-prepare aria-labelledby="prepare-heading" data-session="${`${pathOf(view)}/session`}" data-checks="${list(CHECKS.filter((check) => requirements.includes(check)))}" data-passed="${list(submission.passedChecks)}" data-photos="${list(PHOTOS.filter((photo) => requirements.includes(photo)))}" data-taken="${list(PHOTOS.filter((photo) => photos[photo]))}" data-choice="${String(needs.choice)}">
<h2 id="prepare-heading">${t.text('prepare.heading')}</h2>
${requirements.length > 0 && html`${preload('prepare')}${preload(`checks.${t.language}`)}<div class="mt-3 noscript:hidden" data-steps>${roomFor(requirements)}</div>`}
${
  requirements.length > 0 &&
  html`<noscript><div class="notice alert alert-soft alert-warning my-4"><p>${t.text('prepare.noscript')}</p></div></noscript>`
}
<p class="mt-6">${facts.questions > 1 && t.text(facts.goesBack ? 'prepare.order.free' : 'prepare.order')} ${formatClock(view, facts)}</p>
${penaltyPercent > 0 && html`<p>${t.text('prepare.penalty', { percent: penaltyPercent })}</p>`}
${
  open.length > 0 &&
  notice(
    refusal ? 'error' : 'info',
    html`${!refusal && html`<p id="missing" class="noscript:hidden">${t.text('prepare.closed')}</p>`}
<p class="${refusal ? '' : 'hidden noscript:block'}">${t.text(refusal ? 'prepare.missing.refused' : 'prepare.missing')}</p>
<ul id="${refusal && 'missing'}" class="${`list-inside list-disc ${refusal ? '' : 'hidden noscript:block'}`}" data-missing>${open.map((requirement) => html`<li data-requirement="${requirement}">${t.text('prepare.requirement', { requirement })}</li>`)}</ul>`,
    refusal ? 'alert' : 'note',
  )
}
${refusal === 'quota' && notice('error', html`<p>${t.text('prepare.quota', { organization: organization.name })}</p>`, 'alert')}
${button(view, 'start', t.text('prepare.start'), open.length > 0)}</section>`
}

function formatClock({ t, invite }: View, { timed, timedSections }: AssessmentFacts): string | false {
  if (invite.assessment.timeLimit > 0) return t.text('prepare.clock', { clock: 'whole' })
  if (timed > 0) return t.text('prepare.clock', { clock: 'questions' })
  return timedSections > 0 && t.text('prepare.clock.sections')
}

/** Reserves space for the steps that the script inserts, so that the page does not shift. */
function roomFor(requirements: readonly string[]): Html[] {
  const steps = new Set(requirements.map((requirement) => (requirement === 'camera' ? 'microphone' : requirement)))
  return Array.from({ length: steps.size && steps.size + 1 }, () => html`<div class="skeleton mt-3 h-20"></div>`)
}
