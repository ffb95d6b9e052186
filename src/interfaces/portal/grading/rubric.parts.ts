import { bestPointsOf, type Criterion, type Rubric } from '../../../domain/assessments/rubric.ts'
import type { GradeByPerson } from '../../../domain/submissions/grading/grades.ts'
import type { GradedQuestion } from '../../../domain/submissions/grading/grading-view.ts'
import { type Html, html } from '../../../html/html.ts'
import { formatLevel } from '../kit/rubric.ts'
import { table } from '../kit/table.ts'

// Rubrics in the grading view. Fields `level-1`, `level-2`, … hold the chosen level of each criterion.

/** @param levels chosen levels, as saved or as typed and refused. */
export const rubricLevels = (rubric: Rubric, levels: readonly number[], question: number): Html =>
  html`<div class="mb-4 space-y-2" data-rubric>${rubric.map((criterion, i) => criterionField(criterion, { place: i + 1, chosen: levels[i] ?? 0, question }))}</div>`

type Place = { place: number; chosen: number; question: number }

function criterionField(criterion: Criterion, { place, chosen, question }: Place): Html {
  const { name, levels } = criterion
  const id = `criterion-${question}-${place}`
  return html`<fieldset class="rounded-field data-current:border-primary border border-transparent p-2" data-criterion aria-labelledby="${id}">
<p class="mb-1 flex items-baseline justify-between gap-3 px-1 text-sm"><span class="font-medium" id="${id}" dir="auto">${name}</span><span class="quiet shrink-0 tabular-nums">of ${bestPointsOf(criterion)}</span></p>
${levels.map(({ text, points }, i) => html`<label class="has-checked:bg-primary/10 hover:bg-base-200 rounded-field flex min-h-8 cursor-pointer items-start gap-2 px-1 py-1.5 text-sm"><input class="radio radio-sm" type="radio" name="${`level-${place}`}" value="${i + 1}" data-level-points="${points}" ${chosen === i + 1 && html`checked`}><span class="min-w-0 grow" dir="auto">${text || `Level ${i + 1}`}</span><span class="quiet shrink-0 tabular-nums">${points}</span><kbd class="kbd kbd-sm noscript:hidden pointer-coarse:hidden shrink-0" aria-hidden="true">${i + 1}</kbd></label>`)}
</fieldset>`
}

/** Chosen levels of a form: the script sends them as one field. @returns undefined for a form without a rubric. */
export function readLevels(values: URLSearchParams): number[] | undefined {
  const joined = values.get('levels')
  if (joined !== null) return joined.split(' ').filter(Boolean).map(toLevel)
  const places = [...values.keys()].map((name) => Number(/^level-(\d{1,2})$/.exec(name)?.[1] ?? 0))
  const last = Math.max(0, ...places)
  return last === 0 ? undefined : Array.from({ length: last }, (_, i) => toLevel(values.get(`level-${i + 1}`) ?? '0'))
}

/** @returns a level that no criterion has if it is no number. */
const toLevel = (text: string): number => (/^\d$/.test(text) ? Number(text) : Number.MAX_SAFE_INTEGER)

/** Levels that two graders chose, criterion by criterion; nothing until both did. */
export function agreement({ criteria, grades, number }: GradedQuestion): Html | false {
  const [first, second] = [1, 2].map((round) => grades.findLast((grade) => grade.round === round && grade.levels.length > 0))
  if (!first || !second) return false
  const heading = `agreement-${number}`
  const rows = criteria.map((criterion, i) => [
    criterion.name,
    formatLevel(criterion, first.levels[i] ?? 0),
    formatLevel(criterion, second.levels[i] ?? 0),
    formatDistance(first, second, i),
  ])
  const sameCount = criteria.filter((_, i) => first.levels[i] === second.levels[i]).length
  return html`<h4 class="text-sm font-medium" id="${heading}">Agreement: ${sameCount} of ${criteria.length} criteria</h4>
${table(heading, ['Criterion', first.name, second.name, 'Difference'], rows)}`
}

function formatDistance({ levels: firstLevels }: GradeByPerson, { levels: secondLevels }: GradeByPerson, index: number): string {
  const [first, second] = [firstLevels[index] ?? 0, secondLevels[index] ?? 0]
  if (first === 0 || second === 0) return 'not both chosen'
  const levels = Math.abs(first - second)
  return levels === 0 ? 'none' : levels === 1 ? '1 level' : `${levels} levels`
}
