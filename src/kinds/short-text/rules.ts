import type { AnswerScoring, DefinitionFault } from '../../domain/ports/question-kind.ts'
import { toComparable } from '../comparable.ts'
import { defineKind } from '../define-kind.ts'
import { matches, piecesOf } from '../wildcards.ts'
import { AnswerSchema, type Key, KeySchema, SpecSchema } from './schema.ts'

export const shortTextRules = defineKind({
  words: ['short_text'],
  penalizes: false,
  schema: { spec: SpecSchema, key: KeySchema, answer: AnswerSchema },
  faults: (_, __, key) => faultsOf(key),
  arrange: () => null,
  fits: () => true,
  isEmpty: (text) => text.trim() === '',
  describe: (_, text) => text.trim(),
  understand: (_, words) => (words.length > 500 ? undefined : words),
  fromForm: ([typed = '']) => typed.replaceAll('\r\n', '\n'),
  toForm: (typed) => [typed],
  makeUp: () => 'A generated answer',
  accepts: {
    group: (key, text) => toComparable(text, key),
    // An asterisk in an accepted text is a wildcard, so an answer with an asterisk can't be added.
    add: (key, text, share) =>
      text.includes('*') || toComparable(text, key) === ''
        ? null
        : { ...key, accepted: [...key.accepted, { text: text.trim(), share }] },
  },
  score: (_, key, text) => score(key, text),
})

function score(key: Key, text: string): AnswerScoring {
  const share = shareFor(key, text)
  const isBlank = text.trim() === ''
  if (share === 0 && key.otherwise === 'people' && !isBlank) return { state: 'people' }
  const isRight = share > 0 && !isBlank
  return { state: 'scored', got: isRight ? share : 0, of: 100, parts: [{ id: 'answer', verdict: isRight ? 'right' : 'wrong' }] }
}

/** The largest share of the accepted texts that match; 0 if none does. */
export function shareFor(key: Key, text: string): number {
  const comparable = toComparable(text, key)
  return key.accepted.reduce(
    (best, accepted) => (matches(piecesOf(accepted.text, key), comparable) ? Math.max(best, accepted.share) : best),
    0,
  )
}

function faultsOf(key: Key): DefinitionFault[] {
  const { accepted } = key
  const patterns = accepted.map(({ text }) => piecesOf(text, key).join('*'))
  return [
    ...patterns.flatMap((text, i): DefinitionFault[] => {
      const field = `key.accepted.${i}.text`
      const earlier = patterns.indexOf(text)
      if (text.replaceAll('*', '') === '') return [{ field, text: 'It would accept any text.' }]
      return earlier < i ? [{ field, text: `It is compared as “${accepted[earlier]!.text}” is.` }] : []
    }),
    ...(accepted.some(({ share }) => share === 100) ? [] : [{ field: 'key.accepted', text: 'One text must give 100 percent.' }]),
  ]
}
