import { MAX_ANSWER_LENGTH } from '../../domain/limits.ts'
import { shuffle } from '../../domain/lists/shuffle.ts'
import type { AnswerPart, AnswerScoring, DefinitionFault, PartVerdict } from '../../domain/ports/question-kind.ts'
import { normalize } from '../../domain/text/normalize.ts'
import { defineKind } from '../define-kind.ts'
import { formatOption } from '../format-option.ts'
import { type Answer, AnswerSchema, type Key, KeySchema, type Spec, SpecSchema } from './schema.ts'

/** A row for each prompt and for each distractor. */
export const MAX_ROWS = 20
export const TOO_MANY_ROWS = `At most ${MAX_ROWS} prompts, and choices that fit none, in all.`

export const matchingRules = defineKind({
  words: ['matching'],
  penalizes: false,
  schema: { spec: SpecSchema, key: KeySchema, answer: AnswerSchema },
  faults: (_, spec, key) => faultsOf(spec, key),
  arrange: ({ prompts, choices, shuffle: isShuffled }, random) =>
    isShuffled ? [prompts, choices].flatMap((ordered) => shuffle(ordered, random).map(({ id }) => id)) : null,
  fits: (_, { prompts, choices }, answer) =>
    Object.entries(answer).every(([prompt, choice]) => containsId(prompts, prompt) && containsId(choices, choice)),
  isEmpty: (answer) => Object.keys(answer).length === 0,
  describe: (spec, answer) =>
    spec.prompts
      .flatMap(({ id, text }) => (answer[id] === undefined ? [] : [formatPair(text, textOf(spec, answer[id]))]))
      .join('\n'),
  understand: parseAnswer,
  fromForm: (fields) => Object.fromEntries(fields.filter(Boolean).map((field) => field.split('.', 2))),
  toForm: (answer) => Object.entries(answer).map(([prompt, choice]) => printField(prompt, choice)),
  makeUp: ({ prompts, choices }) => Object.fromEntries(prompts.map(({ id }, i) => [id, choices[i % choices.length]!.id])),
  score: ({ prompts }, key, answer) => score(prompts, key, answer),
})

/** Value of a field: all fields are named `answer`. */
export const printField = (prompt: string, choice: string): string => `${prompt}.${choice}`

const containsId = (list: Spec['choices'], id: string): boolean => list.some((choice) => choice.id === id)
const textOf = ({ choices }: Spec, id: string): string => choices.find((choice) => choice.id === id)?.text ?? ''
const ARROW = ' → '
const toOneLine = (text: string): string => text.replace(/\s+/g, ' ').trim()
const formatPair = (prompt: string, choice: string): string => toOneLine(`${formatOption(prompt)}${ARROW}${formatOption(choice)}`)

function parseAnswer({ prompts, choices }: Spec, words: string): Answer | undefined {
  const pairs = prompts.flatMap((prompt) =>
    choices.map((choice) => ({ prompt, choice, normalized: normalize(formatPair(prompt.text, choice.text)) })),
  )
  const found = words.split('\n').map((line) => pairs.find(({ normalized }) => normalized === normalize(line)))
  if (!found.every((pair) => pair !== undefined)) return undefined
  return Object.fromEntries(found.map(({ prompt, choice }) => [prompt.id, choice.id]))
}

function score(prompts: Spec['prompts'], key: Key, answer: Answer): AnswerScoring {
  const parts = prompts.map(({ id }): AnswerPart => ({ id, verdict: verdictOf(key.pairs[id], answer[id]) }))
  return { state: 'scored', got: parts.filter(({ verdict }) => verdict === 'right').length, of: parts.length, parts }
}

export const verdictOf = (right: string | undefined, chosen: string | undefined): PartVerdict =>
  chosen === undefined ? 'missed' : chosen === right ? 'right' : 'wrong'

/** Characters of the longest possible answer as text. */
function longestAnswer({ prompts, choices }: Spec): number {
  const lengthOf = ({ text }: { text: string }) => [...toOneLine(formatOption(text))].length
  const ofChoice = Math.max(0, ...choices.map(lengthOf))
  return prompts.reduce((sum, prompt) => sum + lengthOf(prompt) + ARROW.length + ofChoice + 1, -1)
}

const tooLong = `An answer can be longer than ${MAX_ANSWER_LENGTH.toLocaleString('en')} characters: it repeats each prompt with its choice. Shorten the prompts, or the longest choices.`

function faultsOf(spec: Spec, { pairs }: Key): DefinitionFault[] {
  const { prompts, choices } = spec
  const ids = [...prompts, ...choices].map(({ id }) => id)
  const fitting = Object.values(pairs)
  const rows = prompts.length + choices.filter(({ id }) => !fitting.includes(id)).length
  const named = Object.keys(pairs).every((id) => containsId(prompts, id))
  return [
    ...(new Set(ids).size < ids.length ? [{ field: 'spec', text: 'The ids of prompts and choices must be unique.' }] : []),
    ...faultsOfTexts('prompts', prompts),
    ...faultsOfTexts('choices', choices),
    ...prompts.flatMap(({ id }, i) =>
      containsId(choices, pairs[id] ?? '') ? [] : [{ field: `key.pairs.${id}`, text: `No choice fits prompt ${i + 1}.` }],
    ),
    ...(named ? [] : [{ field: 'key.pairs', text: 'The key names an unknown prompt.' }]),
    ...(rows > MAX_ROWS ? [{ field: 'spec', text: TOO_MANY_ROWS }] : []),
    ...(longestAnswer(spec) > MAX_ANSWER_LENGTH ? [{ field: 'spec', text: tooLong }] : []),
  ]
}

function faultsOfTexts(field: string, choices: Spec['choices']): DefinitionFault[] {
  const texts = choices.map(({ text }) => normalize(text))
  const twice = texts.findIndex((text, i) => texts.indexOf(text) !== i)
  if (twice >= 0) return [{ field: `spec.${field}.${twice}.text`, text: `Two ${field} say the same.` }]
  return choices.length < 2 ? [{ field: `spec.${field}`, text: `There must be at least two ${field} that differ.` }] : []
}
