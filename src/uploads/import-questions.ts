import { authorize } from '../domain/authorization/permissions.ts'
import type { Context } from '../domain/context.ts'
import type { Issue } from '../domain/errors.ts'
import { createImport, MAX_IMPORTED, startImport } from '../domain/library/imports.ts'
import { throwIfIssues } from '../domain/validation/throw-if-issues.ts'
import type { Encoding } from '../tables/encodings.ts'
import type { Inspection } from './inspect.ts'
import { questionReader } from './question-reader.ts'
import { readUpload } from './read-upload.ts'

/** Choices of the page with the columns. */
export type QuestionFileChoices = {
  encoding?: Encoding | undefined
  delimiter?: string | undefined
  sheet?: string | undefined
  headings?: number | undefined
  columns?: string[] | undefined
}
type QuestionFile = { fileName: string; bytes: Uint8Array; choices: QuestionFileChoices }
type Options = { isCheck: boolean; nameOption: (choice: keyof QuestionFileChoices) => string }

/**
 * Imports a file of questions without a check in the portal. Anything that a person would decide there is refused unless the choices decide
 * it.
 *
 * @param options.isCheck true to store the preview only.
 * @param options.nameOption returns the caller's name for a choice.
 * @returns the import's id.
 * @throws DomainError as createImport and readUpload; invalid, with a `malformed` issue for each doubt.
 */
export async function importQuestions(
  ctx: Context,
  { fileName, bytes, choices }: QuestionFile,
  { isCheck, nameOption }: Options,
): Promise<string> {
  authorize(ctx, 'write_assessments')
  const { headings: headingLine, ...otherChoices } = choices
  const readChoices = { ...otherChoices, headingLine }
  const task = { content: 'inspectQuestions', bytes, maxRows: MAX_IMPORTED, choices: readChoices } as const
  throwIfIssues(findDoubts(await readUpload(ctx.organization.id, task)(async () => {}), choices, nameOption))
  const id = await createImport(ctx, { fileName, readFile: questionReader(ctx, bytes, readChoices) })
  if (!isCheck) await startImport(ctx, id)
  return id
}

function findDoubts(
  { columns, facts, ambiguous }: Inspection,
  choices: QuestionFileChoices,
  nameOption: Options['nameOption'],
): Issue[] {
  const doubt = (field: keyof QuestionFileChoices, text: string): Issue => ({
    field,
    rule: 'malformed',
    text: `${text}: ${nameOption(field)}.`,
  })
  const isOtherSheet = choices.sheet !== undefined && choices.sheet !== facts.sheet
  const sheetNames = facts.sheets.map((name) => `“${name}”`).join(', ') || 'none'
  const doubtfulColumns = choices.columns ? [] : columns.flatMap(({ heading, doubt }, i) => (doubt ? { heading, doubt, i } : []))
  return [
    ...(isOtherSheet ? [doubt('sheet', `The file has no visible sheet “${choices.sheet}”, but ${sheetNames}. Choose one`)] : []),
    ...(facts.isEncodingDoubtful ? [doubt('encoding', 'The letters fit more than one encoding. Choose one')] : []),
    ...doubtfulColumns.map(({ heading, doubt: reason, i }) =>
      doubt('columns', `Column ${i + 1} (${heading}) is doubtful: ${reason} Say what the columns mean`),
    ),
    ...(ambiguous > 0
      ? [doubt('columns', `The right answers of ${ambiguous} questions can be read in two ways. Use rightByLabel or rightByText`)]
      : []),
  ]
}
