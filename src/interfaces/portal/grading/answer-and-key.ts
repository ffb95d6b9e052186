import type { Context } from '../../../domain/context.ts'
import { mayCorrect } from '../../../domain/submissions/corrections/authorize-corrections.ts'
import type { GradedQuestion } from '../../../domain/submissions/grading/grading-view.ts'
import { type Html, html } from '../../../html/html.ts'
import { formatCount } from '../../../http/pages/candidate-view.ts'
import { definedKind } from '../../../kinds/index.ts'
import { pathOf } from '../kit/layout.ts'

const EFFECTS = { full: 'The key gives full points to everybody.', none: 'The question is not counted.' }

/** The answer with the key's score, which counts unless a grader gives other points. */
export function answerAndKey(ctx: Context, question: GradedQuestion): Html | false {
  const { score, scored, shown, attempts, version, versionId, isBeforeKey } = question
  const kind = version && definedKind(version.responseType)
  if (!score || !kind || kind.files) return false
  const value = attempts.find(({ kind: attemptKind }) => attemptKind === 'text')?.value ?? null
  const path = pathOf(ctx, `keys/${versionId}`)
  const isAccepted = score.parts.some(({ verdict }) => verdict === 'right')
  const typed = typeof value === 'string' && !isAccepted ? value.trim() : ''
  const canAccept = typed !== '' && (kind.accepts?.add(score.key, typed, 100) ?? null) !== null
  return html`<div class="mt-4" data-score><h3>Answer and key</h3>
${kind.gradingView({ spec: version.spec, key: score.key, shown, value, parts: score.parts })}
<p class="facts mt-2">${scored === null ? 'A grader has to give the points.' : `The key gives ${formatCount(scored, 'point')}.`}${score.effect !== 'key' && ` ${EFFECTS[score.effect]}`}${isBeforeKey && ' Decided before the key was changed.'}</p>
${
  mayCorrect(ctx) &&
  html`<div class="mt-2 flex flex-wrap items-center gap-2"><a class="btn btn-sm" href="${path}">Correct the key</a>${
    canAccept &&
    html`<form method="post" action="${`${path}/preview`}"><input type="hidden" name="accept" value="${typed}"><input type="hidden" name="share" value="100"><input type="hidden" name="reason" value="${`Accepted: ${typed}`.slice(0, 200)}"><button class="btn btn-sm">Accept this answer…</button></form>`
  }</div>`
}</div>`
}
