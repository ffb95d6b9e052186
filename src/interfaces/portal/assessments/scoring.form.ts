import { may } from '../../../domain/access/permissions.ts'
import type { AssessmentInput } from '../../../domain/assessments/assessment-input.ts'
import type { Context } from '../../../domain/context.ts'
import { type Html, html } from '../../../html/html.ts'
import { readNumber } from '../../../http/forms/read-typed.ts'
import { checkbox, type Form, field } from '../kit/forms.ts'

// What an assessment says of questions that score themselves.

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
<legend>Questions that score themselves</legend>
${field(form, { name: 'penaltyPercent', label: 'A wrong choice costs, in percent of the points of its question', value: penaltyPercent > 0 ? String(penaltyPercent) : '', hint: 'Leave empty for nothing. What is not answered costs nothing, and nobody gets less than 0 in all. Candidates are told. It counts for those who start later.', optional: true })}
${checkbox(form, { name: 'practice', label: 'Candidates may try an example of each kind before they start', checked: practice })}
${
  may(ctx, 'share_results') &&
  html`${checkbox(form, { name: 'releaseAutomatically', label: 'Release results in your name as they are handed in, where nothing is left to graders', checked: releaseAutomatically })}
${checkbox(form, { name: 'releaseToCandidate', label: 'Candidates see the points that are released so', checked: releaseToCandidate })}`
}
</fieldset>
`
