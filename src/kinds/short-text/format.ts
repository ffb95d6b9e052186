import type { KindFormat, NeutralAnswer } from '../neutral.ts'
import type { Key } from './schema.ts'

/** No file format has these settings. */
const COMPARISON = { ignore: { accents: false, punctuation: false } }

export const shortTextFormat: KindFormat = {
  toDefinition: (answer) => {
    if (answer.as !== 'words') return undefined
    const accepted = answer.accepted.map(({ text, share }) => ({ text, share: Math.round(share) }))
    const key: Key = { accepted, caseSensitive: answer.caseSensitive === true, ...COMPARISON, otherwise: 'wrong' }
    return { definition: { responseType: 'short_text', spec: { lines: 1 }, key }, losses: [] }
  },
  toAnswer: ({ responseType, spec, key }) => {
    if (responseType !== 'short_text') return undefined
    const { accepted, caseSensitive, ignore, otherwise } = key as Key
    const losses = [
      ...(ignore.accents ? ['The setting to ignore accents is not exported.'] : []),
      ...(ignore.punctuation ? ['The setting to ignore punctuation is not exported.'] : []),
      ...(otherwise === 'people' ? ['The setting to let graders read other answers is not exported.'] : []),
      ...((spec as { lines: number }).lines === 3 ? ['The size of the field is not exported.'] : []),
    ]
    const answer: NeutralAnswer = {
      as: 'words',
      accepted: accepted.map(({ text, share }) => ({ text, share })),
      ...(caseSensitive && { caseSensitive }),
    }
    return { answer, losses }
  },
}
