import { withoutAccents } from '../../domain/text/fold-text.ts'
import { shareFor } from './rules.ts'
import type { Key } from './schema.ts'

/** An answer that a candidate could give. @property change how it differs from the key. */
export type ExampleAnswer = { text: string; change: string }

const EXAMPLES = 3

/** Answers close to the key: three that it accepts, and three that it does not; fewer where too few of those tried differ. */
export function exampleAnswers(key: Key): { accepted: ExampleAnswer[]; rejected: ExampleAnswer[] } {
  const base = key.accepted
    .find(({ share }) => share === 100)!
    .text.replaceAll('*', '')
    .trim()
  const isAccepted = ({ text }: ExampleAnswer) => shareFor(key, text) > 0
  const variants = variantsOf(base)
  return {
    accepted: distinct([{ text: base, change: 'as written' }, ...variants].filter(isAccepted)),
    rejected: distinct([...variants, ...OTHER_ANSWERS].filter((variant) => !isAccepted(variant))),
  }
}

const distinct = (answers: ExampleAnswer[]): ExampleAnswer[] =>
  answers.filter(({ text }, i) => answers.findIndex((earlier) => earlier.text === text) === i).slice(0, EXAMPLES)

/** The most telling first. */
function variantsOf(base: string): ExampleAnswer[] {
  const graphemes = [...new Intl.Segmenter().segment(base)].map(({ segment }) => segment)
  const accent = base.replace(/[aeiou]/i, (letter) => `${letter}\u0301`).normalize('NFC')
  return [
    { text: base.toUpperCase(), change: 'in capital letters' },
    { text: withoutAccents(base), change: 'without accents' },
    { text: base.replace(/[^\p{L}\p{M}\p{N}\s]/gu, ''), change: 'without its signs' },
    { text: `${base}.`, change: 'with a full stop' },
    { text: withoutAccents(base) === base ? accent : base, change: 'with an accent' },
    { text: graphemes.slice(0, -1).join(''), change: 'without the last letter' },
    { text: base.toLowerCase(), change: 'in small letters' },
    { text: `  ${base}`, change: 'with spaces before it' },
    { text: `${base}  `, change: 'with spaces after it' },
    { text: base.replace(/[!-~]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) + 0xfee0)), change: 'in full-width letters' },
    { text: `${base} ${base}`, change: 'twice' },
    { text: graphemes.toReversed().join(''), change: 'backwards' },
  ].filter(({ text }) => text.trim() !== '' && text !== base)
}

/** For keys with asterisks, which accept most variants. */
const OTHER_ANSWERS: ExampleAnswer[] = ['Other', '123', '?'].map((text) => ({ text, change: 'another text' }))
