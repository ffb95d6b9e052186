import type { KindFormat } from '../neutral.ts'
import type { Key } from './schema.ts'

/** File formats don't define how texts are compared. */
const COMPARISON = { caseSensitive: false, ignore: { accents: false, punctuation: false } }

export const shortTextFormat: KindFormat = {
  toDefinition: (answer) => {
    if (answer.as !== 'words') return undefined
    const accepted = answer.accepted.map(({ text, share }) => ({ text, share: Math.round(share) }))
    const key: Key = { accepted, ...COMPARISON, otherwise: 'wrong' }
    return { definition: { responseType: 'short_text', spec: { lines: 1 }, key }, losses: [] }
  },
  toAnswer: ({ responseType, spec, key }) => {
    if (responseType !== 'short_text') return undefined
    const { accepted, caseSensitive, ignore, otherwise } = key as Key
    const losses = [
      ...(caseSensitive ? ['The setting that capital letters count is not exported.'] : []),
      ...(ignore.accents ? ['The setting to ignore accents is not exported.'] : []),
      ...(ignore.punctuation ? ['The setting to ignore punctuation is not exported.'] : []),
      ...(otherwise === 'people' ? ['The setting to let graders read other answers is not exported.'] : []),
      ...((spec as { lines: number }).lines === 3 ? ['The size of the field is not exported.'] : []),
    ]
    return { answer: { as: 'words', accepted: accepted.map(({ text, share }) => ({ text, share })) }, losses }
  },
}
