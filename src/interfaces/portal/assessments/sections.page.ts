import type { Assessment } from '../../../domain/assessments/assessments.ts'
import { EMPTY_SECTION, type SectionInput } from '../../../domain/assessments/sections.ts'
import type { AssessmentSection } from '../../../domain/assessments/structure.ts'
import type { Context } from '../../../domain/context.ts'
import { PAUSE_DAYS } from '../../../domain/submissions/taking/open-section.ts'
import { type Html, html } from '../../../html/html.ts'
import { formatDurationField } from '../../../http/forms/read-form.ts'
import { confirmButton } from '../kit/confirm.ts'
import { area, checkbox, choice, type Form, field, mistakes } from '../kit/forms.ts'
import { type Page, pathOf } from '../kit/layout.ts'
import { onceField } from '../kit/once.ts'

type SectionPage = { ctx: Context; assessment: Assessment; section: AssessmentSection | null }

/** Form of a section. @param section null for a new one. */
export function sectionPage(form: Form, { ctx, assessment, section }: SectionPage): Page {
  const assessmentPath = pathOf(ctx, `assessments/${assessment.id}`)
  const path = section ? `${assessmentPath}/sections/${section.id}` : `${assessmentPath}/sections`
  const heading = section ? section.name : 'New section'
  return {
    title: `${heading}: ${assessment.name}`,
    heading,
    subtitle: assessment.name,
    trail: [
      ['Assessments', pathOf(ctx, 'assessments')],
      [assessment.name, assessmentPath],
    ],
    body: html`${mistakes(form)}<section class="panel max-w-3xl"><form method="post" action="${path}" data-guarded>${!section && onceField()}
${fields(form, section ?? EMPTY_SECTION)}
<div class="form-foot"><button class="btn btn-primary">${section ? 'Save' : 'Add section'}</button><a class="btn btn-ghost" href="${assessmentPath}">Cancel</a></div>
</form>
${section && html`<div class="border-base-300 mt-6 border-t pt-4">${confirmButton({ label: 'Delete section', question: `Delete ${section.name}?`, consequence: 'Its questions stay: they join the section before it, or after it if it is the first.', address: `${path}/delete` })}</div>`}</section>`,
  }
}

const fields = (form: Form, input: SectionInput): Html => html`
${field(form, { name: 'name', label: 'Name', value: input.name, hint: 'Candidates see it.' })}
${area(form, { name: 'intro', label: 'Introduction', value: input.intro, rows: 4, hint: 'Candidates read it before they open the section. Formatted text: **bold**, *italic*, - lists, [links](https://…)' })}
${field(form, { name: 'timeLimit', label: 'Time limit', value: formatDurationField(input.timeLimit), optional: true, hint: `Minutes, or 1:30, from when a candidate opens the section. Leave empty for no limit. If the assessment has no limit, candidates can pause for ${PAUSE_DAYS} days before the next section.` })}
${choice(form, { name: 'navigation', label: 'Order of answering', value: input.navigation, options: NAVIGATION_LABELS, hint: 'Back and forth is for questions that are read and answered without a recording or a time of their own.' })}
${checkbox(form, { name: 'shuffle', label: 'Ask the questions in a random order for each candidate', checked: input.shuffle })}`

const NAVIGATION_LABELS = [
  ['forward', 'One question after the other'],
  ['free', 'Back and forth, until the candidate finishes the section'],
] as const
