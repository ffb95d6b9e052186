import type { KindFormat, NeutralAnswer } from '../neutral.ts'
import { pairUp, splitPairs } from './pair-up.ts'
import type { Key, Spec } from './schema.ts'

/** A distractor has an empty prompt. */
export const matchingFormat: KindFormat = {
  toDefinition: (answer, newId) => {
    if (answer.as !== 'pairs') return undefined
    const rows = answer.pairs.map(([prompt, choice]) => ({ id: newId(), prompt, choice }))
    const { key, ...named } = pairUp(rows, newId)
    return { definition: { responseType: 'matching', spec: { ...named, shuffle: answer.shuffle ?? true }, key }, losses: [] }
  },
  toAnswer: ({ responseType, spec, key }) => {
    if (responseType !== 'matching') return undefined
    const pairs = splitPairs(spec as Spec, key as Key)
    const answer: NeutralAnswer = {
      as: 'pairs',
      pairs: pairs.map((row) => [row.prompt, row.choice]),
      ...(!(spec as Spec).shuffle && { shuffle: false }),
    }
    return { answer, losses: [] }
  },
}
