import type { PrintedReport } from '../domain/ports/printed-report.ts'

/** User-written text. @property language null: unknown. @property rtl true if read from right to left. */
type WrittenText = { text: string; language: string | null; rtl: boolean }

/** Input of report.typ. */
type Sheet = {
  /** Typst's parts of the language: "pt" and "BR". */
  language: { code: string; region: string | null }
  title: string
  /** The title with line break opportunities. */
  heading: string
  author: string
  facts: { label: string; text: string }[]
  message: WrittenText | null
  questions: {
    heading: string
    points: string
    rubric: string[]
    script: WrittenText | null
    comment: WrittenText | null
    notes: string[]
  }[]
  closing: string
  labels: Omit<PrintedReport['labels'], 'shortened'>
}

/** Characters of all questions and comments. More would take too long to typeset. */
const MAX_CHARACTERS = 500_000

/** Prepares a report for typesetting. Long texts are shortened evenly to stay within MAX_CHARACTERS. */
export function toSheet({ language, title, author, facts, message, questions, closing, labels }: PrintedReport): Sheet {
  const texts = questions.flatMap(({ script, comment }) => [script, comment])
  const isLong = texts.reduce((sum, { length }) => sum + length, 0) > MAX_CHARACTERS
  const most = isLong ? Math.floor(MAX_CHARACTERS / texts.length) : Infinity
  const shorten = (text: string) => (text.length > most ? `${text.slice(0, most)} …` : text)
  const [code = '', region = null] = language.split('-')
  return {
    language: { code, region },
    title: clean(title),
    heading: breakable(clean(title), MAX_HEADING_RUN),
    author: clean(author),
    facts: facts.map(({ label, text }) => ({ label, text: breakable(clean(text), MAX_RUN) })),
    message: toWrittenText(message),
    questions: questions.map(({ heading, points, rubric, script, language, comment, notes }) => ({
      heading,
      points,
      rubric: rubric.map(toLine),
      script: toWrittenText(shorten(script), language),
      comment: toWrittenText(shorten(comment)),
      notes: notes.map(toLine),
    })),
    closing: breakable(clean(isLong ? `${closing} ${labels.shortened}` : closing), MAX_RUN),
    labels,
  }
}

const toLine = (text: string): string => breakable(clean(text), MAX_RUN)

function toWrittenText(text: string, language: string | null = null): WrittenText | null {
  if (text.trim() === '') return null
  return { text: breakable(clean(text), MAX_RUN), language: codeOf(language), rtl: isRightToLeft(text) }
}

/** Typst accepts two- or three-letter codes without subtags. */
const codeOf = (language: string | null): string | null => /^[a-z]{2,3}(?![a-z])/i.exec(language ?? '')?.[0].toLowerCase() ?? null

/** Removes control characters and normalizes line breaks. */
const clean = (text: string): string =>
  text
    .toWellFormed()
    .replace(/\r\n?/g, '\n')
    .replace(/(?![\n\t])\p{Cc}/gu, '')

/** Longest run of letters without a break opportunity: Typst breaks lines only between words, so longer ones would overflow. */
const MAX_RUN = 60
const MAX_HEADING_RUN = 36
const ZERO_WIDTH_SPACE = '\u200b'

/** Inserts break opportunities into long words. Scripts without spaces have them already. */
const breakable = (text: string, longest: number): string =>
  text.replace(/[^\s\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Thai}]+/gu, (run) => {
    if (run.length <= longest) return run
    const letters = Array.from(graphemes.segment(run), ({ segment }) => segment)
    return letters.map((letter, i) => (i % longest === longest - 1 ? `${letter}${ZERO_WIDTH_SPACE}` : letter)).join('')
  })
const graphemes = new Intl.Segmenter()

/** Decides by the first letter, as browsers do. */
const isRightToLeft = (text: string): boolean =>
  /^\P{L}*[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u.test(text)
