import type { KindFormat } from '../neutral.ts'
import { pairUp, splitPairs } from './pair-up.ts'
import type { Key, Spec } from './schema.ts'

/** A distractor has an empty prompt. */
export const matchingFormat: KindFormat = {
  toDefinition: (answer, newId) => {
    if (answer.as !== 'pairs') return undefined
    const rows = answer.pairs.map(([prompt, choice]) => ({ id: newId(), prompt, choice }))
    const { key, ...named } = pairUp(rows, newId)
    return { definition: { responseType: 'matching', spec: { ...named, shuffle: true }, key }, losses: [] }
  },
  toAnswer: ({ responseType, spec, key }) => {
    if (responseType !== 'matching') return undefined
    const pairs = splitPairs(spec as Spec, key as Key)
    const losses = [
      ...((spec as Spec).shuffle ? [] : ['The setting not to shuffle is not exported.']),
      ...(pairs.some(({ prompt }) => prompt.includes('->')) ? ['“->” in a prompt is exported as “→”.'] : []),
    ]
    return { answer: { as: 'pairs', pairs: pairs.map((row) => [row.prompt.replaceAll('->', '→'), row.choice]) }, losses }
  },
}
