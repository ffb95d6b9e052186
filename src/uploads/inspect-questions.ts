import { headingWord } from '../kinds/file-formats/columns.ts'
import { type QuestionChoices, readFile } from '../kinds/file-formats/read-file.ts'
import { importQuestion } from '../kinds/library-questions.ts'
import type { NeutralAnswer, ParsedQuestion } from '../kinds/neutral.ts'
import { describeTable, type InspectedRow, type Inspection, short, summarize } from './inspect.ts'

/** @throws DomainError as readFile. */
export function inspectQuestions(bytes: Uint8Array, maxRows: number, choices: QuestionChoices): Inspection {
  const { rows, facts, format, table, ambiguous } = readFile(bytes, maxRows, { ...choices, isInspection: true })
  const columns = table
    ? describeTable(table.rows, table.plan, choices.remembered ?? {}, headingWord)
    : { columns: [], heads: [], headingLine: 0 }
  return { format, facts, isTable: table !== null, ...columns, ...summarize(rows.map(toQuestionRow)), nameless: 0, ambiguous }
}

function toQuestionRow(parsed: ParsedQuestion): InspectedRow {
  const imported = importQuestion(parsed)
  const { line } = parsed
  if (!('question' in parsed)) return { line, title: short(parsed.name), options: [], details: [], problem: parsed.refusal }
  const { text, points, category, answer } = parsed.question
  const details: [string, string][] = [
    ...describeAnswer(answer),
    ...(points === null ? [] : [['Points', String(points)] as [string, string]]),
    ...(category === '' ? [] : [['Category', category] as [string, string]]),
    ...imported.losses.map((loss): [string, string] => ['Note', loss]),
  ]
  const options =
    answer.as === 'options' ? answer.options.map((option) => ({ text: short(option.text), isRight: option.share > 0 })) : []
  return { line, title: short(text), options, details, problem: 'refusal' in imported ? imported.refusal : null }
}

function describeAnswer(answer: NeutralAnswer): [string, string][] {
  if (answer.as === 'open') return [['Answer', answer.responseType]]
  switch (answer.as) {
    case 'options':
      return [['Answer', answer.several ? 'several options' : 'one option']]
    case 'words':
      return [['Short text', answer.accepted.map(({ text }) => short(text)).join('; ')]]
    case 'number':
      return [
        [
          'Number',
          answer.ranges
            .map((range) =>
              'from' in range
                ? `${range.from} to ${range.to}`
                : `${range.value}${range.tolerance ? ` ± ${range.tolerance}` : ''}`,
            )
            .join('; '),
        ],
      ]
    case 'order':
      return [['Order', answer.items.map(short).join('; ')]]
    case 'pairs':
      return [['Matching', answer.pairs.map((pair) => pair.map(short).join(' → ')).join('; ')]]
  }
}
