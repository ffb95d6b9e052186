import { type Criterion, MAX_CRITERIA, MAX_LEVELS, maximumOf, type Rubric } from '../../../domain/assessments/rubric.ts'
import type { Context } from '../../../domain/context.ts'
import { type Html, html } from '../../../html/html.ts'
import { icon } from '../../../http/pages/icon.ts'
import { newRowId, ROWS_BUTTON, rowReader, rowsOf } from '../../../kinds/rows.ts'
import type { Form } from '../kit/forms.ts'
import { formatIssue } from '../kit/issue-messages.ts'

// Fields of a rubric: a row for each criterion, with a text and points for each level. Empty criteria and levels are ignored.

const LEVELS = Array.from({ length: MAX_LEVELS }, (_, i) => i + 1)
const levelText = (level: number): string => `level${level}`
const levelPoints = (level: number): string => `points${level}`

/** @returns null without a criterion. */
export function readRubric(values: URLSearchParams): Rubric | null {
  const read = rowReader(values)
  const criteria = rowsOf(values).map((id): Criterion => {
    const levels = LEVELS.map((level) => ({ text: read(levelText(level), id), points: read(levelPoints(level), id) }))
    return {
      name: read('criterion', id),
      levels: levels
        .filter(({ text, points }) => text !== '' || points !== '')
        .map(({ text, points }) => ({ text, points: readLevelPoints(points) })),
    }
  })
  const filledCriteria = criteria.filter(({ name, levels }) => name !== '' || levels.length > 0)
  return filledCriteria.length > 0 ? filledCriteria : null
}

/** @returns NaN if it is empty or no number. */
const readLevelPoints = (typed: string): number =>
  /^\d{1,5}([.,]\d)?$/.test(typed) ? Number(typed.replace(',', '.')) : Number.NaN

/** Fields of the rubric, and of the points that it makes. A question that scores itself has none. */
export function readRubricFields(values: URLSearchParams): { rubric: Rubric; points: number } | { rubric: null } {
  const rubric = readRubric(values)
  return rubric ? { rubric, points: maximumOf(rubric) } : { rubric: null }
}

function printRubric({ deps }: Context, rubric: Rubric): URLSearchParams {
  const values = new URLSearchParams()
  for (const { name, levels } of rubric) {
    const id = newRowId(deps.random)
    values.append('row', id)
    values.set(`criterion-${id}`, name)
    for (const [i, { text, points }] of levels.entries()) {
      values.set(`${levelText(i + 1)}-${id}`, text)
      values.set(`${levelPoints(i + 1)}-${id}`, String(points))
    }
  }
  return values
}

const PRESET = 'preset-'

/** The form after a button that fills in a preset; unchanged after another. */
export function applyPreset(ctx: Context, values: URLSearchParams): URLSearchParams {
  const preset = PRESETS.find(({ id }) => values.get(ROWS_BUTTON) === PRESET + id)
  if (!preset) return values
  const rows = rowsOf(values)
  const otherFields = [...values].filter(([name]) => name !== 'row' && !rows.some((id) => name.endsWith(`-${id}`)))
  return new URLSearchParams([...otherFields, ...printRubric(ctx, preset.rubric)])
}

export function rubricFields(ctx: Context, form: Form, stored: Rubric | null): Html {
  const values = form.values.size > 0 ? form.values : printRubric(ctx, stored ?? [])
  const rows = rowsOf(values)
  const errors = form.issues.filter(({ field }) => field === 'rubric').map(formatIssue)
  const rubric = readRubric(values)
  const isOpen = rows.length > 0 || errors.length > 0
  return html`<details class="mb-4" id="rubric" ${isOpen && html`open`}><summary class="quiet mb-2 text-sm">Rubric</summary>
<p class="hint mb-2" id="rubric-hint">Graders choose a level of each criterion. The best levels make the question’s points${rubric && !Number.isNaN(maximumOf(rubric)) && `: ${maximumOf(rubric)}`}. Candidates don’t see the rubric. If you change only words, graders see them at once; other changes apply to candidates who start later.</p>
${errors.length > 0 && html`<p class="mistake mb-2" id="rubric-mistake">${errors.join(' ')}</p>`}
<div class="grid gap-3">${rows.map((id, i) => criterionFields(values, id, i + 1))}</div>
<div class="mt-2 flex flex-wrap gap-1">${rows.length < MAX_CRITERIA && html`<button class="btn btn-ghost btn-sm" name="${ROWS_BUTTON}" value="add" formnovalidate>${icon('plus')}Add criterion</button>`}
${rows.length === 0 && PRESETS.map(({ id, label }) => html`<button class="btn btn-ghost btn-sm" name="${ROWS_BUTTON}" value="${PRESET + id}" formnovalidate>${label}</button>`)}</div></details>`
}

function criterionFields(values: URLSearchParams, id: string, place: number): Html {
  const typed = (name: string): string => values.get(`${name}-${id}`) ?? ''
  const filledLevels = LEVELS.filter((level) => typed(levelText(level)) !== '' || typed(levelPoints(level)) !== '')
  const shownLevels = Math.min(MAX_LEVELS, Math.max(4, (filledLevels.at(-1) ?? 0) + 1))
  const textInput = (name: string, label: string, look: string): Html =>
    html`<input class="${look}" name="${`${name}-${id}`}" value="${typed(name)}" aria-label="${label}" autocomplete="off" dir="auto">`
  return html`<fieldset class="border-base-300 rounded-box border p-3"><legend class="sr-only">Criterion ${place}</legend><input type="hidden" name="row" value="${id}">
<div class="flex items-center gap-2">${textInput('criterion', `Name of criterion ${place}`, 'input w-full')}<button class="btn btn-ghost btn-square btn-sm" name="${ROWS_BUTTON}" value="${`remove-${id}`}" aria-label="${`Remove criterion ${place}`}" formnovalidate>${icon('trash-2')}</button></div>
<p class="hint mt-2 flex justify-between" aria-hidden="true"><span>Levels, the lowest first</span><span>Points</span></p>
<ol class="mt-1 grid gap-1">${LEVELS.slice(0, shownLevels).map((level) => html`<li class="flex gap-2">${textInput(levelText(level), `Criterion ${place}, level ${level}`, 'input input-sm min-w-0 grow')}${textInput(levelPoints(level), `Criterion ${place}, points of level ${level}`, 'input input-sm w-16 tabular-nums')}</li>`)}</ol>
${shownLevels < MAX_LEVELS && html`<button class="btn btn-ghost btn-xs mt-1" name="${ROWS_BUTTON}" value="${`level-${id}`}" formnovalidate>${icon('plus', 'size-3.5')}Add level</button>`}
</fieldset>`
}

type Preset = { id: string; label: string; rubric: Rubric }

const scaleOf = (name: string, ...texts: string[]): Criterion => ({
  name,
  levels: texts.map((text, i) => ({ text, points: texts.length === 5 ? i + 1 : i })),
})

const INTERVIEW = ['Well below the requirements', 'Below the requirements', 'Meets them', 'Exceeds them', 'Far exceeds them']

const PRESETS: Preset[] = [
  {
    id: 'interview',
    label: 'Structured interview, 1–5',
    rubric: ['Understanding of the task', 'Content of the answer', 'Communication'].map((name) => scaleOf(name, ...INTERVIEW)),
  },
  {
    id: 'interpreting',
    label: 'Interpreting',
    rubric: [
      scaleOf(
        'Accuracy',
        'Meaning is lost or reversed',
        'Important parts are missing',
        'Small omissions',
        'Complete and correct',
      ),
      scaleOf('Fluency', 'Breaks off', 'Many pauses and restarts', 'Few pauses', 'Flows like original speech'),
      scaleOf('Terminology', 'Mostly wrong terms', 'Some wrong terms', 'Nearly all terms are right', 'Precise and consistent'),
    ],
  },
  {
    id: 'writing',
    label: 'Writing',
    rubric: [
      scaleOf('Content', 'Misses the task', 'Covers some of it', 'Covers most of it', 'Covers all of it'),
      scaleOf('Structure', 'No order', 'An order with gaps', 'Clear order', 'Clear order, each part leads on'),
      scaleOf('Language', 'Hard to understand', 'Many mistakes', 'Few mistakes', 'Correct and precise'),
    ],
  },
]
