import { DomainError } from '../../src/domain/errors.ts'
import { type QuestionChoices, readFile } from '../../src/kinds/file-formats/read-file.ts'
import { importQuestion } from '../../src/kinds/library-questions.ts'
import type { NeutralAnswer, ParsedQuestion } from '../../src/kinds/neutral.ts'

/**
 * Describes the outcome of an import: `!problem` for a rejected file; for each question `text: *right|wrong`, with `(losses)`, or `line: reason`
 * if it is rejected.
 */
export function outcome(bytes: Uint8Array, choices?: QuestionChoices): string[] {
  try {
    return readFile(bytes, 100, choices).rows.map(describeRow)
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    return error.issues.map((issue) => `!${'problem' in issue ? issue.problem : issue.rule}`)
  }
}

function describeRow(read: ParsedQuestion): string {
  const imported = importQuestion(read)
  if ('refusal' in imported) return `${imported.line}: ${imported.refusal}`
  if (!('question' in read)) throw new Error('a refused question is imported')
  const { text, answer, points, category } = read.question
  const more = [points !== null && `${points} points`, category !== '' && category, ...imported.losses].filter(Boolean)
  return `${text}: ${describeAnswer(answer)}${more.length > 0 ? ` (${more.join('; ')})` : ''}`
}

function describeAnswer(answer: NeutralAnswer): string {
  switch (answer.as) {
    case 'open':
      return answer.responseType
    case 'order':
      return answer.items.join(' < ')
    case 'words':
      return answer.accepted.map(({ text, share }) => `=${text}${share === 100 ? '' : ` ${share}%`}`).join('|')
    case 'pairs':
      return answer.pairs.map((pair) => pair.join('->')).join('|')
    case 'number':
      return answer.ranges
        .map(
          (range) =>
            `#${'from' in range ? `${range.from}..${range.to}` : `${range.value}${range.tolerance ? `±${range.tolerance}` : ''}`}${range.share === 100 ? '' : ` ${range.share}%`}`,
        )
        .join('|')
    case 'options':
      return (
        answer.options.map(({ text, share }) => `${share > 0 ? '*' : ''}${text}`).join('|') + (answer.several ? ' several' : '')
      )
  }
}
