import type { AssessmentInput } from '../../../domain/assessments/assessment-input.ts'
import { may } from '../../../domain/authorization/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import { type Html, html } from '../../../html/html.ts'
import { readNumber } from '../../../http/forms/read-form.ts'
import { checkbox, type Form, field } from '../kit/forms.ts'

// Settings for questions that score themselves.

type Scoring = Pick<AssessmentInput, 'penaltyPercent' | 'practice' | 'releaseAutomatically' | 'releaseToCandidate'>

export const readScoring = (values: URLSearchParams): Scoring => ({
  penaltyPercent: readNumber(values, 'penaltyPercent'),
  practice: values.get('practice') === 'yes',
  releaseAutomatically: values.get('releaseAutomatically') === 'yes',
  releaseToCandidate: values.get('releaseToCandidate') === 'yes',
})

export const scoringFields = (
  ctx: Context,
  form: Form,
  { penaltyPercent, practice, releaseAutomatically, releaseToCandidate }: Scoring,
): Html => html`<fieldset>
<legend>Auto-scored questions</legend>
${field(form, { name: 'penaltyPercent', label: 'Penalty for a wrong choice, in percent', value: penaltyPercent > 0 ? String(penaltyPercent) : '', hint: 'Percent of the question’s points. Leave empty for no penalty. Unanswered questions cost nothing, and a total is never below 0. Candidates see this before they start. A change applies to candidates who start later.', optional: true })}
${checkbox(form, { name: 'practice', label: 'Candidates may try an example of each kind before they start', checked: practice })}
${
  may(ctx, 'share_results') &&
  html`${checkbox(form, { name: 'releaseAutomatically', label: 'Release results in your name as soon as they are submitted, if everything is auto-scored', checked: releaseAutomatically })}
${checkbox(form, { name: 'releaseToCandidate', label: 'Show scores to candidates', checked: releaseToCandidate })}`
}
</fieldset>
`
