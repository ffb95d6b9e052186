import { isDeepStrictEqual } from 'node:util'
import type { Context } from '../../../domain/context.ts'
import {
  type AnswerKeyChange,
  type CorrectableVersion,
  RELEASES,
  type ReleaseHandling,
} from '../../../domain/submissions/corrections/correct-key.ts'
import type { CorrectionPreview } from '../../../domain/submissions/corrections/preview.ts'
import { html } from '../../../html/html.ts'
import { formatCount, plainQuestionText } from '../../../http/pages/candidate-view.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'
import { onceField } from '../kit/once.ts'
import { correctionCounts } from './counts.ts'
import { EFFECTS } from './key.page.ts'

/** Fields that the preview's form does not repeat. */
const OMITTED_FIELDS = ['once', 'seen', 'releases']

const CHOICES: Record<ReleaseHandling, string> = {
  raise: 'Change only results that rise',
  all: 'Change results that fall, too',
}

export function correctionPreviewPage(
  ctx: Context,
  {
    version,
    change,
    preview,
    values,
  }: { version: CorrectableVersion; change: AnswerKeyChange; preview: CorrectionPreview; values: URLSearchParams },
): Page {
  const path = pathOf(ctx, `keys/${version.versionId}`)
  const acceptedAnswer = values.get('accept')
  return {
    title: 'Preview of the correction',
    trail: [['Answer key', path]],
    subtitle: html`<span dir="auto">${plainQuestionText(version).slice(0, 300)}</span>`,
    body: html`<div class="space-y-6">${panel(
      'new-key',
      EFFECTS[change.effect],
      html`${acceptedAnswer !== null && html`<p class="mb-2">Also accepted: <strong class="script" dir="auto">${acceptedAnswer}</strong>, for ${values.get('share')} % of the points.</p>`}<p class="preformatted" dir="auto">${change.reason}</p>`,
    )}
${panel(
  'changes',
  'Changes',
  html`${
    preview.assessments.length === 0
      ? html`<p>Nobody has submitted an answer yet.</p>`
      : html`<p class="hint">A question has one key for live and test data: both are scored again.</p>
${preview.assessments.map(
  ({ id, name, counts }) =>
    html`<h3><a href="${pathOf(ctx, `assessments/${id}`)}">${name}</a></h3>${isDeepStrictEqual(counts.raise, counts.all) ? correctionCounts(counts.raise) : RELEASES.map((releases) => html`<h4 class="mt-2 text-sm font-medium">${CHOICES[releases]}</h4>${correctionCounts(counts[releases])}`)}`,
)}`
  }${preview.isCut && html`<p class="hint">Only the first are shown. All are scored again.</p>`}`,
)}
<form class="panel" method="post" action="${path}">${onceField()}
${[...values].filter(([name]) => !OMITTED_FIELDS.includes(name)).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">\n`)}
<input type="hidden" name="seen" value="${version.newest.number}">
<fieldset class="mb-4"><legend class="mb-1.5 text-sm font-medium">Results that are released</legend>
${RELEASES.map((releases) => html`<label class="flex items-center gap-2.5 py-1.5 text-sm"><input type="radio" class="radio radio-sm" name="releases" value="${releases}" ${releases === 'raise' && html`checked`}><span>${CHOICES[releases]}<span class="hint">: ${formatCount(preview.releasedAnew[releases], 'result')}</span></span></label>\n`)}
<p class="hint mt-1">Each result that changes is released again to the same people, and your systems are notified. Nobody gets an email.</p></fieldset>
<div class="flex flex-wrap gap-2"><button class="btn btn-primary">Correct the key</button><a class="btn" href="${path}">Cancel</a></div>
</form></div>`,
  }
}
