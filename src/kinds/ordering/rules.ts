import { shuffle } from '../../domain/lists/shuffle.ts'
import type { AnswerPart, DefinitionFault, PartVerdict } from '../../domain/ports/question-kind.ts'
import { normalize } from '../../domain/text/normalize.ts'
import { defineKind } from '../define-kind.ts'
import { formatOption } from '../format-option.ts'
import { type Answer, AnswerSchema, type Key, KeySchema, type Spec, SpecSchema } from './schema.ts'

export const MAX_ITEMS = 20

export const orderingRules = defineKind({
  words: ['ordering'],
  penalizes: false,
  schema: { spec: SpecSchema, key: KeySchema, answer: AnswerSchema },
  faults: (_, spec, key) => faultsOf(spec, key),
  arrange: ({ items }, random) => shuffle(items, random).map(({ id }) => id),
  fits: (_, { items }, answer) =>
    Object.entries(answer).every(([id, place]) => place <= items.length && items.some((item) => item.id === id)),
  isEmpty: (answer) => Object.keys(answer).length === 0,
  describe: (spec, answer) =>
    placedItems(spec, answer)
      .map(({ text, place }) => formatPlace(text, place))
      .join('\n'),
  understand: parseAnswer,
  fromForm: (fields) =>
    Object.fromEntries(
      fields.filter(Boolean).map((field) => {
        const [id, place] = field.split('.', 2)
        return [id, Number(place)]
      }),
    ),
  toForm: (answer) => Object.entries(answer).map(([id, place]) => printField(id, place)),
  makeUp: ({ items }) => Object.fromEntries(items.map(({ id }, i) => [id, i + 1])),
  score: ({ items }, { order }, answer) => {
    const parts = items.map(({ id }): AnswerPart => ({ id, verdict: verdictOf(order.indexOf(id) + 1, answer[id]) }))
    return { state: 'scored', got: parts.filter(({ verdict }) => verdict === 'right').length, of: parts.length, parts }
  },
})

/** Value of a field: all fields are named `answer`. */
export const printField = (id: string, place: number): string => `${id}.${place}`

export const verdictOf = (right: number, chosen: number | undefined): PartVerdict =>
  chosen === undefined ? 'missed' : chosen === right ? 'right' : 'wrong'

const placedItems = ({ items }: Spec, answer: Answer) =>
  items
    .flatMap(({ id, text }) => (answer[id] === undefined ? [] : [{ id, text, place: answer[id] }]))
    .sort((one, other) => one.place - other.place)

const formatPlace = (text: string, place: number): string => `${place}. ${formatOption(text).replace(/\s+/g, ' ').trim()}`

function parseAnswer({ items }: Spec, words: string): Answer | undefined {
  const placed = words.split('\n').map((line) => {
    const place = Number(/^\s*(\d{1,2})\./.exec(line)?.[1])
    const item = items.find(({ text }) => normalize(formatPlace(text, place)) === normalize(line))
    return item && ([item.id, place] as const)
  })
  return placed.every((entry) => entry !== undefined) ? Object.fromEntries(placed) : undefined
}

function faultsOf({ items }: Spec, { order }: Key): DefinitionFault[] {
  const ids = items.map(({ id }) => id)
  const texts = items.map(({ text }) => normalize(text))
  const twice = texts.findIndex((text, i) => texts.indexOf(text) !== i)
  const isComplete = order.length === ids.length && ids.every((id) => order.includes(id))
  return [
    ...(new Set(ids).size < ids.length ? [{ field: 'spec', text: 'The ids of the items must be unique.' }] : []),
    ...(twice >= 0 ? [{ field: `spec.items.${twice}.text`, text: 'Two items say the same.' }] : []),
    ...(items.length < 2 ? [{ field: 'spec.items', text: 'There must be at least two items.' }] : []),
    ...(isComplete ? [] : [{ field: 'key.order', text: 'The key must name each item once.' }]),
  ]
}
