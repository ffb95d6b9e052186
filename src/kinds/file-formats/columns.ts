import { MAX_COLUMNS, type TableRow } from '../../tables/table.ts'

// Meanings of the columns of a sheet of questions, by heading, and checked by values.

/** Options are `option:1` to `option:20`. An empty meaning: the column is not used. */
export const QUESTION_MEANINGS = [
  ...(['text', 'right', 'rightByLabel', 'rightByText', 'options', 'wrong'] as const),
  ...(['kind', 'name', 'category', 'points', 'format'] as const),
]
export const MAX_OPTIONS = 20
export const optionMeaning = (number: number): string => `option:${number}`
export const isQuestionMeaning = (meaning: string): boolean =>
  (QUESTION_MEANINGS as readonly string[]).includes(meaning) ||
  Array.from({ length: MAX_OPTIONS }, (_, i) => optionMeaning(i + 1)).includes(meaning)

/** Accepted headings by meaning, as {@link headingWord} gives them. */
const HEADINGS: Record<string, string[]> = {
  kind: [
    'kind',
    'type',
    'questiontype',
    'fragetyp',
    'fragentyp',
    'typ',
    'typedequestion',
    'tipo',
    'tipodepregunta',
    'tipodequestão',
  ],
  name: ['name', 'title', 'questionname', 'titel', 'titre', 'título', 'titulo'],
  category: ['category', 'topic', 'tag', 'kategorie', 'thema', 'catégorie', 'categoría', 'categoria'],
  text: [
    ...['text', 'question', 'questiontext', 'prompt', 'questiontitle', 'questionstem', 'stem', 'item'],
    ...[
      'frage',
      'fragetext',
      'pregunta',
      'pergunta',
      'questão',
      'domanda',
      'vraag',
      'pytanie',
      'вопрос',
      'السؤال',
      '質問',
      '問題',
      '问题',
      '질문',
    ],
  ],
  format: ['format', 'markup'],
  points: ['points', 'point', 'score', 'marks', 'mark', 'defaultmark', 'punkte', 'puntos', 'pontos', 'barème', 'punti', 'punkty'],
  options: ['options', 'choices', 'answeroptions', 'antwortmöglichkeiten', 'antworten', 'opciones', 'opções'],
  right: [
    ...[
      'right',
      'rightanswer',
      'rightoption',
      'correct',
      'correctanswer',
      'correctanswers',
      'correctoption',
      'correctoptions',
      'correctchoice',
    ],
    ...['answer', 'answers', 'solution', 'key', 'answerkey', 'correctresponse', 'rightanswers'],
    ...[
      'lösung',
      'richtig',
      'richtigeantwort',
      'richtigeantworten',
      'korrekteantwort',
      'antwort',
      'bonneréponse',
      'réponsecorrecte',
      'réponse',
    ],
    ...[
      'bonnesréponses',
      'respuestacorrecta',
      'respuesta',
      'correcta',
      'respostacorreta',
      'resposta',
      'correta',
      'gabarito',
      'rispostacorretta',
    ],
    ...[
      'poprawnaodpowiedź',
      'odpowiedź',
      'ответ',
      'правильныйответ',
      'juisteantwoord',
      'antwoord',
      '答え',
      '正解',
      '答案',
      '정답',
      '답',
    ],
  ],
}
const OPTION_WORDS =
  'option|choice|answer|answeroption|answerchoice|optiontext|answertext|antwort|antwortmöglichkeit|réponse|reponse|choix|respuesta|opción|opcion|resposta|opção|opcao|alternativa|alternative|risposta|odpowiedź|antwoord|вариант|選択肢|选项|보기'
/** Headings of options: `Option 1`, `Answer B`, `C`. */
const OPTION_HEADING = new RegExp(`^(?:(?:${OPTION_WORDS})(?:([a-t])|0?(\\d{1,2}))|([a-t]))$`)
/** Headings of wrong options beside a right one: `Incorrect Answer 2`, `Distractor 1`. */
const WRONG_HEADING =
  /^(?:(?:in|not)correct|wrong|false|falsche|mauvaise|incorrecta|distra[ck]tor)(?:answer|option|choice|antwort|réponse|respuesta)?s?\d{0,2}$/

/** Rows at the start of a file that may be the headings. */
const MAX_HEADING_ROWS = 10
const MAX_HEADING_LENGTH = 100

/** A heading in lower case, letters and digits only, without parentheses and remarks: `Marks (10)`, `Question - max 120 characters`. */
export const headingWord = (heading: string): string =>
  heading
    .slice(0, MAX_HEADING_LENGTH)
    .replace(/^\s*\p{L}+\s*\?\s*$/u, (word) => (/correct|right/i.test(word) ? word : '')) // a question of one word
    .replace(/\([^()]*\)/g, '')
    .replace(/\s[-–—:]\s.*$/s, '')
    .replace(/#/g, 'number')
    .toLowerCase()
    .normalize('NFC')
    .replace(/[^\p{L}\p{M}\p{N}]/gu, '')

/** @returns an empty text for an unknown heading. */
function meaningOf(word: string): string {
  const meaning = Object.keys(HEADINGS).find((meaning) => HEADINGS[meaning]!.includes(word))
  if (meaning !== undefined) return meaning
  if (WRONG_HEADING.test(word)) return 'wrong'
  const [, letter, number, letterAlone] = OPTION_HEADING.exec(word) ?? []
  const option = number === undefined ? (letter ?? letterAlone ?? ' ').charCodeAt(0) - 96 : Number(number)
  return option >= 1 && option <= MAX_OPTIONS ? optionMeaning(option) : ''
}

/**
 * @property head index of the row with the headings; -1 for none.
 * @property doubts why a column's meaning should be checked, a sentence each, by column.
 */
export type ColumnPlan = { head: number; meanings: string[]; doubts: Record<number, string> }

/** @param remembered meanings that people chose, by heading word. @param head row of the headings that a person chose. */
export function planColumns(
  rows: TableRow[],
  { remembered = {}, head: chosen }: { remembered?: Record<string, string>; head?: number } = {},
): ColumnPlan {
  const head = chosen ?? findHead(rows)
  const headings = (rows[head]?.cells ?? []).slice(0, MAX_COLUMNS)
  const values = rows.slice(head + 1)
  return { head, ...assign(headings, values, remembered) }
}

/** The first row with a heading for the text, and most known headings; else the first row. */
function findHead(rows: TableRow[]): number {
  let best = { at: 0, known: 0 }
  for (const [index, { cells }] of rows.slice(0, MAX_HEADING_ROWS).entries()) {
    const meanings = assign(cells.slice(0, MAX_COLUMNS), [], {}).meanings
    const knownCount = meanings.filter(Boolean).length
    if (meanings.includes('text') && knownCount > best.known) best = { at: index, known: knownCount }
  }
  return best.at
}

export const areHeadings = (headings: string[]): boolean =>
  assign(headings.slice(0, MAX_COLUMNS), [], {}).meanings.includes('text')

function assign(
  headings: string[],
  values: TableRow[],
  remembered: Record<string, string>,
): Pick<ColumnPlan, 'meanings' | 'doubts'> {
  const words = headings.map(headingWord)
  const wanted = words.map((word) => (word === '' ? '' : Object.hasOwn(remembered, word) ? remembered[word]! : meaningOf(word)))
  const doubts: Record<number, string> = {}
  preferTexts(wanted, values)
  readAnswersAsKeys(wanted, words, values)
  readQAsText(wanted, words)
  const firsts = new Map<string, number>()
  const meanings = wanted.map((meaning, i) => {
    if (meaning === '' || meaning === 'wrong') return meaning
    const first = firsts.get(meaning)
    const isKeyList = meaning === 'right' && words[i] !== words[firsts.get('right') ?? i]
    if (first === undefined || (isKeyList && /\d$/.test(words[i]!))) {
      firsts.set(meaning, first ?? i)
      return meaning
    }
    doubts[i] = `Column “${headings[first]!.trim()}” has the same meaning.`
    return ''
  })
  return { meanings, doubts: { ...doubts, ...findDoubts(meanings, values) } }
}

const isFilled = (text: string | undefined): text is string => (text ?? '').trim() !== ''
const valuesOf = (rows: TableRow[], column: number): string[] => rows.map(({ cells }) => cells[column]).filter(isFilled)

/** Prefers “Question text” to a column “Question” that holds only numbers. */
function preferTexts(meanings: string[], rows: TableRow[]): void {
  const columns = meanings.flatMap((meaning, i) => (meaning === 'text' ? [i] : []))
  if (columns.length < 2 || rows.length === 0) return
  const isNumbered = (column: number) => valuesOf(rows, column).every((text) => /^\d+$/.test(text.trim()))
  if (columns.some((column) => !isNumbered(column))) for (const column of columns) if (isNumbered(column)) meanings[column] = ''
}

/** Beside options A to D, the columns `Answer 1` and `Answer 2` hold letters of right ones, as in Moodle's CSV. */
function readAnswersAsKeys(meanings: string[], words: string[], rows: TableRow[]): void {
  const letters = words.filter((word) => /^[a-t]$/.test(word)).length
  const numbered = words.flatMap((word, i) => (/^answer0?\d{1,2}$/.test(word) ? [i] : []))
  if (letters < 2 || numbered.length === 0 || meanings.includes('right')) return
  if (numbered.some((column) => valuesOf(rows, column).some((text) => !/^[A-Ta-t]$/.test(text.trim())))) return
  for (const column of numbered) meanings[column] = 'right'
}

/** `Q` is the heading of the text if no other column is, unless there is an option P. */
function readQAsText(meanings: string[], words: string[]): void {
  const index = words.indexOf('q')
  if (index >= 0 && !meanings.includes('text') && !meanings.includes(optionMeaning(16))) meanings[index] = 'text'
}

const LONG_KEY = 80

function findDoubts(meanings: string[], rows: TableRow[]): Record<number, string> {
  const doubts: Record<number, string> = {}
  const hasOptions = meanings.some((meaning) => meaning === 'options' || meaning === 'wrong' || meaning.startsWith('option:'))
  for (const [i, meaning] of meanings.entries()) {
    const values = rows.length > 0 ? valuesOf(rows, i) : []
    if (values.length === 0) continue
    if (meaning === 'text' && values.every((text) => /^[\d.,]+$/.test(text.trim()))) doubts[i] = 'It holds only numbers.'
    if (meaning === 'right' && !hasOptions && values.some((text) => text.length > LONG_KEY))
      doubts[i] = 'Its texts are long for answers that candidates must type alike.'
  }
  return doubts
}
