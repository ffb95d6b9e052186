import { MAX_ANSWER_LENGTH } from '../../domain/limits.ts'
import type { Fault, Part, Score, Verdict } from '../../domain/ports/question-kind.ts'
import { defineKind } from '../define-kind.ts'
import { normalize } from '../normalize.ts'
import { shuffle } from '../shuffle.ts'
import { wordOption } from '../word-option.ts'
import { type Answer, AnswerSchema, type Key, KeySchema, type Spec, SpecSchema } from './schema.ts'

/** Prompts with a row each, and a row for each choice that fits none. */
export const MOST_ROWS = 20
export const TOO_MANY_ROWS = `At most ${MOST_ROWS} prompts, and choices that fit none, in all.`

/** To each prompt the choice that fits it. */
export const matching = defineKind({
  words: ['matching'],
  penalizes: false,
  schema: { spec: SpecSchema, key: KeySchema, answer: AnswerSchema },
  faults: (_, spec, key) => faultsOf(spec, key),
  arrange: ({ prompts, choices, shuffle: isShuffled }, random) =>
    isShuffled ? [prompts, choices].flatMap((ordered) => shuffle(ordered, random).map(({ id }) => id)) : null,
  fits: (_, { prompts, choices }, answer) =>
    Object.entries(answer).every(([prompt, choice]) => has(prompts, prompt) && has(choices, choice)),
  isEmpty: (answer) => Object.keys(answer).length === 0,
  describe: (spec, answer) =>
    spec.prompts
      .flatMap(({ id, text }) => (answer[id] === undefined ? [] : [wordPair(text, textOf(spec, answer[id]))]))
      .join('\n'),
  understand,
  fromForm: (fields) => Object.fromEntries(fields.filter(Boolean).map((field) => field.split('.', 2))),
  toForm: (answer) => Object.entries(answer).map(([prompt, choice]) => printField(prompt, choice)),
  makeUp: ({ prompts, choices }) => Object.fromEntries(prompts.map(({ id }, i) => [id, choices[i % choices.length]!.id])),
  score: ({ prompts }, key, answer) => score(prompts, key, answer),
})

/** What a field sends: all of them have one name. */
export const printField = (prompt: string, choice: string): string => `${prompt}.${choice}`

const has = (among: Spec['choices'], id: string): boolean => among.some((one) => one.id === id)
const textOf = ({ choices }: Spec, id: string): string => choices.find((choice) => choice.id === id)?.text ?? ''
const ARROW = ' → '
const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim()
/** As it was written, but on one line. */
const wordPair = (prompt: string, choice: string): string => oneLine(`${wordOption(prompt)}${ARROW}${wordOption(choice)}`)

function understand({ prompts, choices }: Spec, words: string): Answer | undefined {
  const pairs = prompts.flatMap((prompt) =>
    choices.map((choice) => ({ prompt, choice, said: normalize(wordPair(prompt.text, choice.text)) })),
  )
  const found = words.split('\n').map((line) => pairs.find(({ said }) => said === normalize(line)))
  if (!found.every((pair) => pair !== undefined)) return undefined
  return Object.fromEntries(found.map(({ prompt, choice }) => [prompt.id, choice.id]))
}

function score(prompts: Spec['prompts'], key: Key, answer: Answer): Score {
  const parts = prompts.map(({ id }): Part => ({ id, verdict: verdictOf(key.pairs[id], answer[id]) }))
  return { state: 'scored', got: parts.filter(({ verdict }) => verdict === 'right').length, of: parts.length, parts }
}

/** What became of a prompt. */
export const verdictOf = (right: string | undefined, chosen: string | undefined): Verdict =>
  chosen === undefined ? 'missed' : chosen === right ? 'right' : 'wrong'

/** Characters of the longest answer there is, in words. */
function longestAnswer({ prompts, choices }: Spec): number {
  const lengthOf = ({ text }: { text: string }) => [...oneLine(wordOption(text))].length
  const ofChoice = Math.max(0, ...choices.map(lengthOf))
  return prompts.reduce((sum, prompt) => sum + lengthOf(prompt) + ARROW.length + ofChoice + 1, -1)
}

const tooLong = `An answer can be longer than ${MAX_ANSWER_LENGTH.toLocaleString('en')} characters: it repeats each prompt with its choice. Shorten the prompts, or the longest choices.`

function faultsOf(spec: Spec, { pairs }: Key): Fault[] {
  const { prompts, choices } = spec
  const ids = [...prompts, ...choices].map(({ id }) => id)
  const fitting = Object.values(pairs)
  const rows = prompts.length + choices.filter(({ id }) => !fitting.includes(id)).length
  const named = Object.keys(pairs).every((id) => has(prompts, id))
  return [
    ...(new Set(ids).size < ids.length ? [{ field: 'spec', text: 'Each prompt and choice must have an id of its own.' }] : []),
    ...faultsOfTexts('prompts', prompts),
    ...faultsOfTexts('choices', choices),
    ...prompts.flatMap(({ id }, i) =>
      has(choices, pairs[id] ?? '') ? [] : [{ field: `key.pairs.${id}`, text: `No choice fits prompt ${i + 1}.` }],
    ),
    ...(named ? [] : [{ field: 'key.pairs', text: 'The key names a prompt that there is not.' }]),
    ...(rows > MOST_ROWS ? [{ field: 'spec', text: TOO_MANY_ROWS }] : []),
    ...(longestAnswer(spec) > MAX_ANSWER_LENGTH ? [{ field: 'spec', text: tooLong }] : []),
  ]
}

function faultsOfTexts(field: string, all: Spec['choices']): Fault[] {
  const texts = all.map(({ text }) => normalize(text))
  const twice = texts.findIndex((text, i) => texts.indexOf(text) !== i)
  if (twice >= 0) return [{ field: `spec.${field}.${twice}.text`, text: `Two ${field} say the same.` }]
  return all.length < 2 ? [{ field: `spec.${field}`, text: `There must be at least two ${field} that differ.` }] : []
}
