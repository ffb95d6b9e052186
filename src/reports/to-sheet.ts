import type { PrintedReport } from '../domain/ports/printed-report.ts'

/** A text as somebody has written it. @property language null: not known. @property rtl whether it is read from right to left. */
type Written = { text: string; language: string | null; rtl: boolean }

/** What is set in type, as report.typ reads it. */
type Sheet = {
  title: string
  /** The title, with places where it may be broken. */
  heading: string
  author: string
  facts: { label: string; text: string }[]
  message: Written | null
  questions: { heading: string; points: string; script: Written | null; comment: Written | null }[]
  closing: string
}

/** Characters of all questions and comments: more is no ordinary report, and would take too long. */
const MAX_CHARACTERS = 500_000
const SHORTENED = ' Long texts are shortened here: as a web page the report has them whole.'

/** What is set in type: of texts that are too long all together as much as there is room for. */
export function toSheet({ title, author, facts, message, questions, closing }: PrintedReport): Sheet {
  const texts = questions.flatMap(({ script, comment }) => [script, comment])
  const isLong = texts.reduce((sum, { length }) => sum + length, 0) > MAX_CHARACTERS
  const most = isLong ? Math.floor(MAX_CHARACTERS / texts.length) : Infinity
  const shorten = (text: string) => (text.length > most ? `${text.slice(0, most)} …` : text)
  return {
    title: clean(title),
    heading: breakable(clean(title), HEADING_RUN),
    author: clean(author),
    facts: facts.map(({ label, text }) => ({ label, text: breakable(clean(text), RUN) })),
    message: written(message),
    questions: questions.map(({ heading, points, script, language, comment }) => ({
      heading,
      points,
      script: written(shorten(script), language),
      comment: written(shorten(comment)),
    })),
    closing: breakable(clean(isLong ? closing + SHORTENED : closing), RUN),
  }
}

function written(text: string, language: string | null = null): Written | null {
  if (text.trim() === '') return null
  return { text: breakable(clean(text), RUN), language: codeOf(language), rtl: isRightToLeft(text) }
}

/** Typst takes codes of two or three letters, without what may follow them. */
const codeOf = (language: string | null): string | null => /^[a-z]{2,3}(?![a-z])/i.exec(language ?? '')?.[0].toLowerCase() ?? null

/** Without characters that have no picture, one kind of line break. */
const clean = (text: string): string =>
  text
    .toWellFormed()
    .replace(/\r\n?/g, '\n')
    .replace(/(?![\n\t])\p{Cc}/gu, '')

/** Typst breaks lines between words alone: what has so many letters without a place for that would leave the page. */
const RUN = 60
const HEADING_RUN = 36
const ZERO_WIDTH_SPACE = '\u200b'

/** Words beyond that length get such places; scripts that are written without spaces have them. */
const breakable = (text: string, longest: number): string =>
  text.replace(/[^\s\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Thai}]+/gu, (run) => {
    if (run.length <= longest) return run
    const letters = Array.from(graphemes.segment(run), ({ segment }) => segment)
    return letters.map((letter, i) => (i % longest === longest - 1 ? `${letter}${ZERO_WIDTH_SPACE}` : letter)).join('')
  })
const graphemes = new Intl.Segmenter()

/** As browsers decide it: by the first letter. */
const isRightToLeft = (text: string): boolean =>
  /^\P{L}*[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u.test(text)
