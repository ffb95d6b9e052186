import type { DefinitionFault, Random } from '../../domain/ports/question-kind.ts'
import { type Html, html } from '../../html/html.ts'
import type { AuthorForm, KindForm, ParsedForm } from '../author.ts'
import {
  checkboxField,
  describedBy,
  fieldError,
  hiddenFields,
  readPercent,
  rowList,
  rowMenu,
  selectField,
  shareField,
  textField,
} from '../author-fields.ts'
import { newRowId, readTrimmed, rowReader, rowsOf } from '../rows.ts'
import type { Key, Spec } from './schema.ts'
import { scorePreview } from './score-preview.ts'

const NEW_ROWS = 4
const MAX_OPTIONS = 20
const MAX_CHARACTERS = 1_000

/** CSS shows the fields of weights, so that no JavaScript is needed. */
export const choiceAuthor: KindForm = {
  offers: [
    { word: 'single_choice', label: 'Single choice', description: 'One of several options', icon: 'circle-dot' },
    {
      word: 'single_choice',
      preset: 'true_false',
      label: 'True or false',
      description: 'Two options to choose from',
      icon: 'scale',
    },
    { word: 'multiple_choice', label: 'Multiple choice', description: 'Any number of several options', icon: 'square-check' },
  ],
  begin: (random, preset) =>
    preset === 'true_false'
      ? print({ options: ['True', 'False'].map((text) => ({ id: newRowId(random), text })), shuffle: false }, null)
      : new URLSearchParams([...emptyRows(random), ['shuffle', 'yes']]),
  print: (spec, key) => print(spec as Spec, key as Key),
  read: parseForm,
  fields,
  pictured: (values) => rowsOf(values).map((id, i) => [`text-${id}`, `In option ${i + 1}`]),
}

const emptyRows = (random: Random) => Array.from({ length: NEW_ROWS }, (): [string, string] => ['row', newRowId(random)])

function print({ options, shuffle, least, most }: Spec, key: Key | null): URLSearchParams {
  const values = new URLSearchParams()
  for (const { id, text, fixed } of options) {
    values.append('row', id)
    values.set(`text-${id}`, text)
    if (fixed) values.append('fixed', id)
  }
  if (shuffle) values.set('shuffle', 'yes')
  if (least !== undefined) values.set('least', String(least))
  if (most !== undefined) values.set('most', String(most))
  if (key) values.set('policy', key.policy)
  if (key?.policy === 'weights') for (const [id, weight] of Object.entries(key.weights)) values.set(`share-${id}`, String(weight))
  else for (const id of key?.right ?? []) values.append('right', id)
  return values
}

/** Empty rows are ignored, unless they are marked as right. */
function parseForm(word: string, values: URLSearchParams): ParsedForm {
  const readRow = rowReader(values)
  const right = values.getAll('right')
  const rows = rowsOf(values).filter((id) => readRow('text', id) !== '' || right.includes(id))
  const policy = policyOf(word, values)
  const weights = rows.map((id): [string, number] => [id, readPercent(readRow('share', id), 0)])
  const [least, most] = word === 'multiple_choice' ? [readAmount(values, 'least'), readAmount(values, 'most')] : []
  const fixed = values.getAll('fixed')
  const spec: Spec = {
    options: rows.map((id) => ({ id, text: readRow('text', id), ...(fixed.includes(id) && { fixed: true }) })),
    shuffle: values.has('shuffle'),
    ...(least !== undefined && { least }),
    ...(most !== undefined && { most }),
  }
  const key: Key =
    policy === 'weights'
      ? { policy, weights: Object.fromEntries(weights.filter(([, weight]) => weight !== 0)) }
      : { policy, right: rows.filter((id) => right.includes(id)) }
  const faults: DefinitionFault[] = [
    ...(rows.length < 2 ? [{ field: 'options', text: 'Write at least two options.' }] : []),
    ...(rows.length > MAX_OPTIONS ? [{ field: 'options', text: `At most ${MAX_OPTIONS} options.` }] : []),
    ...spec.options.flatMap(({ id, text }): DefinitionFault[] => {
      if (text === '') return [{ field: `text-${id}`, text: 'Write the right answer here.' }]
      const isTooLong = [...text].length > MAX_CHARACTERS
      return isTooLong ? [{ field: `text-${id}`, text: `At most ${MAX_CHARACTERS} characters.` }] : []
    }),
    ...(policy === 'weights' ? weights.flatMap(([id, weight]) => faultsOfWeight(id, weight)) : []),
    ...(['least', 'most'] as const)
      .filter((name) => Number.isNaN(name === 'least' ? least : most))
      .map((name) => ({ field: name, text: 'Enter a whole number, or nothing.' })),
    ...(policy !== 'weights' && !rows.some((id) => right.includes(id))
      ? [{ field: 'options', text: 'Mark the right answer.' }]
      : []),
  ]
  return { spec, key, faults, fieldOf: (path) => fieldOf(rows, path) }
}

const faultsOfWeight = (id: string, weight: number): DefinitionFault[] =>
  Math.abs(weight) <= 100 ? [] : [{ field: `share-${id}`, text: 'Enter whole percent from -100 to 100.' }]

function readAmount(values: URLSearchParams, name: string): number | undefined {
  const typed = readTrimmed(values, name)
  return typed === '' ? undefined : /^\d{1,3}$/.test(typed) ? Number(typed) : Number.NaN
}

function policyOf(word: string, values: URLSearchParams): Key['policy'] {
  const chosen = values.get('policy')
  if (chosen === 'weights' || chosen === 'exact') return chosen
  return word === 'single_choice' ? 'exact' : 'balanced'
}

function fieldOf(rows: string[], path: string): string {
  const [, row] = /^spec\.options\.(\d+)\.text/.exec(path) ?? []
  if (row !== undefined) return `text-${rows[Number(row)]}`
  if (path === 'spec.most' || path === 'spec.least') return path.slice('spec.'.length)
  return path === 'key.policy' ? 'policy' : 'options'
}

const POLICIES = {
  single_choice: [
    ['exact', 'One option is right'],
    ['weights', 'Options give shares of the points'],
  ],
  multiple_choice: [
    ['balanced', 'Balanced: wrong options count against right ones'],
    ['exact', 'All or nothing'],
    ['weights', 'Each option has a weight'],
  ],
} as const

function fields(word: string, form: AuthorForm): Html {
  if (form.isKeyOnly) return keyFields(word, form)
  const isOne = word === 'single_choice'
  const rows = rowsOf(form.values)
  return html`<div class="group">
${rowList(form, {
  group: 'options',
  legend: 'Options',
  hint: isOne ? 'Mark the right option. Empty options are left out.' : 'Tick the right options. Empty options are left out.',
  rows: rows.map((id, i) => optionRow(form, { id, isOne, place: i + 1, isLast: i === rows.length - 1 })),
  add: 'Add an option',
  most: MAX_OPTIONS,
})}
<div class="field">${selectField(form, { name: 'policy', label: 'Scoring', options: POLICIES[isOne ? 'single_choice' : 'multiple_choice'] })}</div>
${scorePreview(word, parseForm(word, form.values))}
${checkboxField(form, 'shuffle', 'Shuffle the options for each candidate')}
${!isOne && html`<div class="mt-3 mb-5 grid grid-cols-2 gap-x-3">${textField(form, { name: 'least', label: 'Choose at least' })}${textField(form, { name: 'most', label: 'At most' })}</div>`}
</div>`
}

/** Fields of the key, for options that can't be changed. */
function keyFields(word: string, form: AuthorForm): Html {
  const isOne = word === 'single_choice'
  return html`<div class="group"><fieldset class="mb-4" id="options" tabindex="-1" aria-describedby="${describedBy(form, 'options', false)}">
<legend class="mb-1.5 text-sm font-medium">${isOne ? 'Mark the right option' : 'Tick the right options'}</legend>
${fieldError(form, 'options')}
<ol class="grid gap-2">${rowsOf(form.values).map((id, i) => fixedRow(form, { id, isOne, place: i + 1 }))}</ol></fieldset>
<div class="field">${selectField(form, { name: 'policy', label: 'Scoring', options: POLICIES[isOne ? 'single_choice' : 'multiple_choice'] })}</div>
${hiddenFields(form, 'fixed', 'shuffle', 'least', 'most')}</div>`
}

function fixedRow(form: AuthorForm, { id, isOne, place }: Omit<Place, 'isLast'>): Html {
  const name = `text-${id}`
  const isRight = form.values.getAll('right').includes(id)
  return html`<li class="flex items-start gap-2"><input type="hidden" name="row" value="${id}">${hiddenFields(form, name)}
<label class="flex min-w-0 grow items-start gap-2.5 py-1"><span class="group-has-[option[value=weights]:checked]:hidden"><input type="${isOne ? 'radio' : 'checkbox'}" class="${isOne ? 'radio radio-sm' : 'checkbox checkbox-sm'}" name="right" value="${id}" ${isRight && html`checked`}></span><span class="script" dir="auto">${form.values.get(name)}</span></label>
<span class="hidden group-has-[option[value=weights]:checked]:block">${shareField(form, id, `option ${place}`)}${fieldError(form, `share-${id}`)}</span></li>`
}

type Place = { id: string; isOne: boolean; place: number; isLast: boolean }

function optionRow(form: AuthorForm, { id, isOne, place, isLast }: Place): Html {
  const noun = `option ${place}`
  const isRight = form.values.getAll('right').includes(id)
  const name = `text-${id}`
  const isWrong = form.errorsOf(name).length > 0
  return html`<li><div class="flex items-start gap-2"><input type="hidden" name="row" value="${id}">
<span class="mt-2.5 group-has-[option[value=weights]:checked]:hidden"><input type="${isOne ? 'radio' : 'checkbox'}" class="${isOne ? 'radio radio-sm' : 'checkbox checkbox-sm'}" name="right" value="${id}" aria-label="${`Option ${place} is right`}" ${isRight && html`checked`}></span>
<label class="sr-only" for="${name}">Option ${place}</label><input class="input min-w-0 grow" id="${name}" name="${name}" value="${form.values.get(name)}" dir="auto" autocomplete="off" aria-invalid="${isWrong && 'true'}" aria-describedby="${isWrong && `${name}-mistake`}" ${form.focus === id && html`autofocus`}>
<span class="hidden group-has-[option[value=weights]:checked]:block">${shareField(form, id, noun)}</span>
${rowMenu(id, noun, { isFirst: place === 1, isLast }, keepsPlace(form, id))}</div>
${fieldError(form, name)}${fieldError(form, `share-${id}`)}</li>`
}

const keepsPlace = ({ values }: AuthorForm, id: string): Html =>
  html`<label class="flex items-center gap-2.5 px-2 py-1.5 text-sm"><input type="checkbox" class="checkbox checkbox-sm" name="fixed" value="${id}" ${values.getAll('fixed').includes(id) && html`checked`}> Keeps its place when shuffled</label>`
