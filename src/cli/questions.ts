import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { getActingMember } from '../domain/authorization/acting-member.ts'
import { type Context, enterOrganization, type ServiceContext } from '../domain/context.ts'
import { DomainError } from '../domain/errors.ts'
import { exportImportRows, type ImportReportRow } from '../domain/library/export-import-rows.ts'
import { createImport, getImport, MAX_IMPORTED, startImport } from '../domain/library/imports.ts'
import { findMemberByAddress } from '../domain/members/invite-member.ts'
import { findOrganization } from '../domain/organization/organizations.ts'
import { ENCODINGS, type Encoding } from '../tables/encodings.ts'
import { FILE_MESSAGES } from '../tables/file-messages.ts'
import { type Inspection, isMeaningOf } from '../uploads/inspect.ts'
import { questionReader } from '../uploads/question-reader.ts'
import { readUpload } from '../uploads/read-upload.ts'
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
  const bytes = await readFile(file)
  const { encoding, delimiter, sheet, headings: headingLine, columns } = options
  const choices = { encoding, delimiter, sheet, headingLine, columns }
  const order = { content: 'inspectQuestions', bytes, maxRows: MAX_IMPORTED, choices } as const
  const found = await readUpload(ctx.organization.id, order)(async () => {}).catch(explainRefusal)
  const doubts = findDoubts(found, options)
  if (doubts.length > 0) return { text: '', json: { doubts }, complaint: `${doubts.join('\n')}\nNothing was imported.\n` }
  const readQuestions = questionReader(ctx, bytes, choices)
  const id = await createImport(ctx, { fileName: path.basename(file), readFile: readQuestions }).catch(explainRefusal)
  if (!options.check) await startImport(ctx, id)
  return describeImport(ctx, id, options)
}

/** Decisions that a person makes on the page with the columns. */
const findDoubts = ({ columns, facts, ambiguous }: Inspection, options: Options): string[] => [
  ...(facts.isEncodingDoubtful ? ['The letters fit more than one encoding. Choose one: --encoding.'] : []),
  ...(options.columns
    ? []
    : columns.flatMap(({ heading, doubt }, i) =>
        doubt ? [`Column ${i + 1} (${heading}) is doubtful: ${doubt} Say what the columns mean: --columns.`] : [],
      )),
  ...(ambiguous > 0
    ? [`The right answers of ${ambiguous} questions can be read in two ways. Use rightByLabel or rightByText: --columns.`]
    : []),
]

function explainRefusal(error: unknown): never {
  const [issue] = error instanceof DomainError ? error.issues : []
  if (issue?.rule !== 'account' || !Object.hasOwn(FILE_MESSAGES, issue.problem)) throw error
  const describe = FILE_MESSAGES[issue.problem as keyof typeof FILE_MESSAGES]
  throw new Error(describe('', issue.limit ?? 0), { cause: error })
}

async function describeImport(ctx: Context, id: string, { check }: Options): Promise<Output> {
  const { counts, unusedColumns } = await getImport(ctx, id)
  const rows: ImportReportRow[] = []
  await exportImportRows(ctx, id, async (some) => void rows.push(...some.filter(({ notes }) => notes.length > 0)))
  const taken = counts.ready + counts.losses + counts.taken
  const sums = `${taken} ${check ? 'can be imported' : 'are being imported by the running service'}, ${counts.there} there already, ${counts.refused} refused.\n`
  const unused = unusedColumns.length > 0 ? `Unused columns: ${unusedColumns.join(', ')}.\n` : ''
  const notes = rows.map(({ line, state, name, notes }) => [line, state, name.slice(0, 40), notes.join(' ')])
  return {
    text: (notes.length > 0 ? `${table(['LINE', 'RESULT', 'QUESTION', 'NOTES'], notes)}\n` : '') + unused + sums,
    json: { importId: id, counts, unusedColumns, rows },
  }
}
