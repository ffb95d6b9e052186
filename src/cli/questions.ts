import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { getActingMember } from '../domain/authorization/acting-member.ts'
import { type Context, enterOrganization, type ServiceContext } from '../domain/context.ts'
import { DomainError } from '../domain/errors.ts'
import { exportImportRows, type ImportReportRow } from '../domain/library/export-import-rows.ts'
import { getImport } from '../domain/library/imports.ts'
import { findMemberByAddress } from '../domain/members/invite-member.ts'
import { findOrganization } from '../domain/organization/organizations.ts'
import { ENCODINGS, type Encoding } from '../tables/encodings.ts'
import { FILE_MESSAGES } from '../tables/file-messages.ts'
import { importQuestions } from '../uploads/import-questions.ts'
import { isMeaningOf } from '../uploads/inspect.ts'
import { type Output, type OutputOptions, table } from './output.ts'
import { addCommand, parseCount, runCommand } from './session.ts'

type Options = OutputOptions & {
  member: string
  encoding?: Encoding
  delimiter?: string
  sheet?: string
  headings?: number
  columns?: string[]
  check?: true
}

/** `questions import`. */
export function addQuestionCommands(program: Command): void {
  const questions = program.command('questions').description('import questions into the library')

  addCommand(questions, 'import', 'import a file of questions; nothing is imported if its columns or letters are doubtful')
    .argument('<organization>', 'id or name')
    .argument('<file>', 'XLSX, CSV, GIFT, Aiken, Moodle XML, or QTI 2.1')
    .requiredOption('--member <email>', 'member in whose name it is imported')
    .addOption(new Option('--encoding <name>', 'encoding of a text').choices(ENCODINGS))
    .option('--delimiter <sign>', 'sign between the cells of a CSV')
    .option('--sheet <name>', 'sheet of a workbook')
    .option('--headings <line>', 'line of the headings', parseCount(1_000_000))
    .option(
      '--columns <meanings>',
      'meanings of the columns, such as text,option:1,option:2,right; empty: not used',
      parseColumns,
    )
    .option('--check', 'only print the outcome of each question')
    .action((organization: string, file: string, options: Options) =>
      runCommand(options, ({ operator }) => importFile(operator, organization, file, options)),
    )
}

function parseColumns(text: string): string[] {
  const meanings = text.split(',').map((meaning) => meaning.trim())
  const unknown = meanings.find((meaning) => !isMeaningOf('questions', meaning))
  if (unknown === undefined) return meanings
  throw new InvalidArgumentError(
    `“${unknown}” is no meaning: text, right, rightByLabel, rightByText, option:1 to option:20, options, wrong, kind, points, name, category, or format.`,
  )
}

async function importFile(operator: ServiceContext, idOrName: string, file: string, options: Options): Promise<Output> {
  const entered = enterOrganization(operator, await findOrganization(operator, idOrName))
  const member = await findMemberByAddress(entered, options.member)
  if (!member) throw new Error(`Nobody is a member there with ${options.member}.`)
  const ctx: Context = { ...entered, actor: await getActingMember(entered, member.id) }
  const { encoding, delimiter, sheet, headings, columns, check: isCheck = false } = options
  const read = {
    fileName: path.basename(file),
    bytes: await readFile(file),
    choices: { encoding, delimiter, sheet, headings, columns },
  }
  const nameOption = (choice: string) => `--${choice}`
  const outcome = await importQuestions(ctx, read, { isCheck, nameOption }).catch(explainRefusal)
  if (typeof outcome === 'string') return describeImport(ctx, outcome, options)
  return { text: '', json: outcome, complaint: `${outcome.doubts.join('\n')}\nNothing was imported.\n` }
}

/** @returns decisions that a person makes on the page with the columns. @throws Error with a sentence for a file that is refused. */
function explainRefusal(error: unknown): { doubts: string[] } {
  const issues = error instanceof DomainError ? error.issues : []
  const doubts = issues.flatMap((issue) => (issue.rule === 'malformed' ? [issue.text] : []))
  if (doubts.length > 0) return { doubts }
  const [issue] = issues
  if (issue?.rule !== 'account' || !Object.hasOwn(FILE_MESSAGES, issue.problem)) throw error
  const describe = FILE_MESSAGES[issue.problem as keyof typeof FILE_MESSAGES]
  throw new Error(describe('', issue.limit ?? 0), { cause: error })
}

async function describeImport(ctx: Context, id: string, { check }: Options): Promise<Output> {
  const { counts, unusedColumns } = await getImport(ctx, id)
  const rows: ImportReportRow[] = []
  await exportImportRows(ctx, id, async (batch) => void rows.push(...batch.filter(({ notes }) => notes.length > 0)))
  const importable = counts.ready + counts.losses + counts.taken
  const sums = `${importable} ${check ? 'can be imported' : 'are being imported by the running service'}, ${counts.there} there already, ${counts.refused} refused.\n`
  const unused = unusedColumns.length > 0 ? `Unused columns: ${unusedColumns.join(', ')}.\n` : ''
  const notes = rows.map(({ line, state, name, notes }) => [line, state, name.slice(0, 40), notes.join(' ')])
  return {
    text: (notes.length > 0 ? `${table(['LINE', 'RESULT', 'QUESTION', 'NOTES'], notes)}\n` : '') + unused + sums,
    json: { importId: id, counts, unusedColumns, rows },
  }
}
