import { shuffle } from '../../domain/lists/shuffle.ts'
import type { AnswerPart, AnswerScoring, DefinitionFault, PartVerdict, Random } from '../../domain/ports/question-kind.ts'
import { normalize } from '../../domain/text/normalize.ts'
import { defineKind } from '../define-kind.ts'
import { formatOption } from '../format-option.ts'
import { type Answer, AnswerSchema, type Key, KeySchema, type Spec, SpecSchema } from './schema.ts'

export const choiceRules = defineKind({
  words: ['single_choice', 'multiple_choice'],
  penalizes: true,
  schema: { spec: SpecSchema, key: KeySchema, answer: AnswerSchema },
  faults: (word, spec, key) => (word === 'single_choice' ? faultsOfOne(spec, key) : faultsOfSeveral(spec, key)),
  arrange: ({ options, shuffle: isShuffled }, random) => (isShuffled ? arrange(options, random) : null),
  fits: (word, { options, most = options.length }, ticked) =>
    ticked.length <= (word === 'single_choice' ? 1 : most) && ticked.every((id) => options.some((option) => option.id === id)),
  isEmpty: (ticked) => ticked.length === 0,
  describe: ({ options }, ticked) =>
    options.flatMap(({ id, text }) => (ticked.includes(id) ? [formatOption(text)] : [])).join('\n'),
  understand: ({ options }, words) => {
    const chosen = words
      .split('\n')
      .map((line) => options.find(({ text }) => normalize(formatOption(text)) === normalize(line))?.id)
    return chosen.every((id) => id !== undefined) ? chosen : undefined
  },
  fromForm: (ids) => ids,
  toForm: (ids) => ids,
  makeUp: ({ options, least = 1 }) => options.slice(0, Math.max(1, least)).map(({ id }) => id),
  score,
})

/** Shuffles options. Fixed ones keep their position. */
function arrange(options: Spec['options'], random: Random): string[] {
  const loose = shuffle(
    options.filter(({ fixed }) => !fixed),
    random,
  )
  return options.map((option) => (option.fixed ? option : loose.shift()!).id)
}

function score({ options }: Spec, key: Key, ticked: Answer): AnswerScoring {
  const right = rightOptions(key)
  const parts = options.map(({ id }): AnswerPart => ({ id, verdict: verdictOf(ticked.includes(id), right.includes(id)) }))
  return { state: 'scored', ...shareOf(options.length, key, ticked), parts }
}

export const verdictOf = (isTicked: boolean, isRight: boolean): PartVerdict =>
  isTicked ? (isRight ? 'right' : 'wrong') : isRight ? 'missed' : 'left'

/** Ids of the options in the best answer. */
export const rightOptions = (key: Key): string[] =>
  key.policy === 'weights' ? Object.keys(key.weights).filter((id) => key.weights[id]! > 0) : key.right

function shareOf(options: number, key: Key, ticked: Answer): { got: number; of: number } {
  if (key.policy === 'weights') {
    const sum = ticked.reduce((total, id) => total + (key.weights[id] ?? 0), 0)
    return { got: Math.min(100, Math.max(0, sum)), of: 100 }
  }
  const right = ticked.filter((id) => key.right.includes(id)).length
  const wrong = ticked.length - right
  const [allRight, allWrong] = [key.right.length, options - key.right.length]
  if (key.policy === 'exact') return { got: right === allRight && wrong === 0 ? 1 : 0, of: 1 }
  return { got: Math.max(0, right * allWrong - wrong * allRight), of: allRight * allWrong }
}

function faultsOfOne(spec: Spec, key: Key): DefinitionFault[] {
  if (key.policy === 'balanced') return [{ field: 'key.policy', text: 'One choice is scored exactly, or by weights.' }]
  if (spec.least !== undefined || spec.most !== undefined) {
    return [{ field: 'spec', text: 'Only multiple choice can limit the number of options to tick.' }]
  }
  return [...faultsOfBoth(spec, key), ...(key.policy === 'weights' ? faultsOfShares(key.weights) : faultsOfOneRight(key.right))]
}

const faultsOfOneRight = (right: string[]): DefinitionFault[] =>
  right.length === 1 ? [] : [{ field: 'key.right', text: 'One option must be right.' }]

function faultsOfShares(weights: Record<string, number>): DefinitionFault[] {
  const shares = Object.values(weights)
  return [
    ...(shares.includes(100) ? [] : [{ field: 'key.weights', text: 'One option must give 100 percent.' }]),
    ...(shares.some((share) => share < 0)
      ? [{ field: 'key.weights', text: 'One choice can not give less than 0 percent.' }]
      : []),
  ]
}

function faultsOfSeveral(spec: Spec, key: Key): DefinitionFault[] {
  const { options, least = 0, most = options.length } = spec
  const right = rightOptions(key).length
  const sum =
    key.policy === 'weights' ? Object.values(key.weights).reduce((total, weight) => total + Math.max(0, weight), 0) : 100
  return [
    ...faultsOfBoth(spec, key),
    ...(right === 0 ? [{ field: 'key', text: 'At least one option must be right.' }] : []),
    ...(key.policy === 'balanced' && right === options.length
      ? [{ field: 'key.right', text: 'At least one option must be wrong. Otherwise ticking all gives all points.' }]
      : []),
    ...(right > 0 && sum !== 100 ? [{ field: 'key.weights', text: 'The weights above 0 must sum up to 100 percent.' }] : []),
    ...(least > most || most > options.length
      ? [{ field: 'spec.most', text: 'The limits don’t fit the number of options.' }]
      : []),
    ...(right < least || right > most
      ? [{ field: 'spec.most', text: 'The right answer must have as many options as candidates choose.' }]
      : []),
  ]
}

function faultsOfBoth({ options }: Spec, key: Key): DefinitionFault[] {
  const ids = options.map(({ id }) => id)
  const named = key.policy === 'weights' ? Object.keys(key.weights) : key.right
  const texts = options.map(({ text }) => normalize(text))
  const twice = texts.findIndex((text, i) => texts.indexOf(text) !== i)
  return [
    ...(new Set(ids).size < ids.length ? [{ field: 'spec.options', text: 'Option ids must be unique.' }] : []),
    ...(twice < 0 ? [] : [{ field: `spec.options.${twice}.text`, text: 'Two options say the same.' }]),
    ...(named.every((id) => ids.includes(id)) ? [] : [{ field: 'key', text: 'The key names an unknown option.' }]),
  ]
}
