import type { Fault, Score } from '../../domain/values/question-kind.ts'
import { defineKind } from '../define-kind.ts'
import { normalize } from '../normalize.ts'
import { AnswerSchema, type Key, KeySchema, SpecSchema } from './schema.ts'

/** A text that is compared with those that are accepted. */
export const shortText = defineKind({
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
    group: ({ exact }, text) => comparable(text, exact),
    // An asterisk in an accepted text stands for others.
    add: (key, text, share) =>
      text.includes('*') || comparable(text, key.exact) === ''
        ? null
        : { ...key, accepted: [...key.accepted, { text: text.trim(), share }] },
  },
  score: (_, key, text) => score(key, text),
})

function score({ accepted, exact, otherwise }: Key, text: string): Score {
  const given = comparable(text, exact)
  const share = accepted.reduce((best, one) => (matches(piecesOf(one.text, exact), given) ? Math.max(best, one.share) : best), 0)
  if (share === 0 && otherwise === 'people' && text.trim() !== '') return { state: 'people' }
  const isRight = share > 0 && text.trim() !== ''
  return { state: 'scored', got: isRight ? share : 0, of: 100, parts: [{ id: 'answer', verdict: isRight ? 'right' : 'wrong' }] }
}

function comparable(text: string, exact: Key['exact']): string {
  const cased = exact.case ? normalize(text) : normalize(text).toLowerCase()
  const accented = exact.accents ? cased : cased.normalize('NFD').replace(/\p{M}/gu, '').normalize('NFC')
  return normalize(exact.punctuation ? accented : accented.replace(/\p{P}/gu, ' '))
}

/** What stands between the asterisks, as it is compared. */
const piecesOf = (text: string, exact: Key['exact']): string[] => text.split('*').map((piece) => comparable(piece, exact))

/** Each piece is looked for where the one before it ends: no way back, and so no text for which this takes long. */
function matches([first = '', ...others]: string[], text: string): boolean {
  const last = others.pop()
  if (last === undefined) return text === first
  if (!text.startsWith(first)) return false
  const end = others.reduce((at, piece) => {
    const found = at < 0 ? -1 : text.indexOf(piece, at)
    return found < 0 ? -1 : found + piece.length
  }, first.length)
  return end >= 0 && text.length - last.length >= end && text.endsWith(last)
}

function faultsOf({ accepted, exact }: Key): Fault[] {
  const compared = accepted.map(({ text }) => piecesOf(text, exact).join('*'))
  return [
    ...compared.flatMap((text, i): Fault[] => {
      const field = `key.accepted.${i}.text`
      const earlier = compared.indexOf(text)
      if (text.replaceAll('*', '') === '') return [{ field, text: 'It would accept any text.' }]
      return earlier < i ? [{ field, text: `It is compared as “${accepted[earlier]!.text}” is.` }] : []
    }),
    ...(accepted.some(({ share }) => share === 100) ? [] : [{ field: 'key.accepted', text: 'One text must give 100 percent.' }]),
  ]
}
