import type { Format } from '../neutral.ts'
import type { Key } from './schema.ts'

/** No file says how texts are compared. */
const COMPARISON = { caseSensitive: false, ignore: { accents: false, punctuation: false } }

/** Texts that are accepted. */
export const shortTextFormat: Format = {
  take: (answer) => {
    if (answer.as !== 'words') return undefined
    const accepted = answer.accepted.map(({ text, share }) => ({ text, share: Math.round(share) }))
    const key: Key = { accepted, ...COMPARISON, otherwise: 'wrong' }
    return { definition: { responseType: 'short_text', spec: { lines: 1 }, key }, losses: [] }
  },
  give: ({ responseType, spec, key }) => {
    if (responseType !== 'short_text') return undefined
    const { accepted, caseSensitive, ignore, otherwise } = key as Key
    const losses = [
      ...(caseSensitive ? ['That capital letters count is not written.'] : []),
      ...(ignore.accents ? ['That accents are ignored is not written.'] : []),
      ...(ignore.punctuation ? ['That punctuation is ignored is not written.'] : []),
      ...(otherwise === 'people' ? ['That people look at other answers is not written.'] : []),
      ...((spec as { lines: number }).lines === 3 ? ['The size of the field is not written.'] : []),
    ]
    return { answer: { as: 'words', accepted: accepted.map(({ text, share }) => ({ text, share })) }, losses }
  },
}
