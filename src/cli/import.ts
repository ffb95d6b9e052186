import { readFile } from 'node:fs/promises'
import { text as readAll } from 'node:stream/consumers'
import type { Command } from 'commander'
import type { ServiceContext } from '../domain/context.ts'
import {
  type GeneratedKey,
  ImportInterrupted,
  type ImportOptions,
  type ImportProgress,
  type ImportSummary,
  importDocument,
  type KeptDefinition,
  type KeptKey,
} from '../import/import-document.ts'
import { KINDS } from '../import/match.ts'
import { describeProblem, ImportError } from '../import/problems.ts'
import { readDocument } from '../import/read-document.ts'
import { describeError, type Output, type OutputOptions, table } from './output.ts'
import { addCommand, runCommand } from './session.ts'

const CLEAR_LINE = '\r\x1b[K'

type Options = OutputOptions & Pick<ImportOptions, 'overwriteProgress'>

/** `import FILE`. */
export function addImportCommand(program: Command): void {
  addCommand(program, 'import', 'import organizations from a JSON document; importing it again changes nothing')
    .argument('<file>', '- for standard input')
    .option('--overwrite-progress', 'also update the status and times of existing invites')
    .action(async (file: string, options: Options) => {
      const source = file === '-' ? 'standard input' : file
      const json = parseDocument(source, file === '-' ? await readAll(process.stdin) : await readFile(file, 'utf8'))
      await runCommand(options, ({ operator }) => runImport(operator, source, json, options), { migrates: true })
    })
}

async function runImport(
  ctx: ServiceContext,
  source: string,
  json: unknown,
  { overwriteProgress = false }: Options,
): Promise<Output> {
  const { isTTY } = process.stderr
  const onWait = () => void process.stderr.write('Another import is running: waiting until it ends.\n')
  try {
    const options = { overwriteProgress, onWait, ...(isTTY && { onProgress: showProgress }) }
    return formatSummary(await importDocument(ctx, readDocument(json), options))
  } catch (error) {
    if (error instanceof ImportError) return formatRefusal(source, error)
    if (error instanceof ImportInterrupted) return formatInterruption(error)
    throw error
  } finally {
    if (isTTY) process.stderr.write(CLEAR_LINE)
  }
}

function parseDocument(source: string, text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (cause) {
    throw new Error(`${source} is not JSON: ${(cause as Error).message}`, { cause })
  }
}

function showProgress({ organization, done, total }: ImportProgress): void {
  process.stderr.write(`${CLEAR_LINE}${organization}: ${Math.floor((100 * done) / total)} %, ${done} of ${total} rows`)
}

function formatRefusal(source: string, { problems }: ImportError): Output {
  const count = `${problems.length} ${problems.length === 1 ? 'problem' : 'problems'}`
  const lines = [...problems.map(describeProblem), `error: ${source} was refused for ${count}; nothing was written.`]
  return { text: '', json: { problems }, complaint: `${lines.join('\n')}\n` }
}

function formatInterruption({ message, summary, cause }: ImportInterrupted): Output {
  const complaint = `error: ${message}: ${describeError(cause)}\nImport the document again: what has been loaded stays as it is.\n`
  return { ...formatSummary(summary), complaint }
}

function formatSummary({ organizations, counts, generatedKeys, keptKeys, keptDefinitions }: ImportSummary): Output {
  const rows = KINDS.map((kind) => [kind, counts[kind].created, counts[kind].updated, counts[kind].unchanged])
  const text =
    table(['', 'CREATED', 'UPDATED', 'UNCHANGED'], rows) +
    formatKeptKeys(keptKeys) +
    formatKeptDefinitions(keptDefinitions) +
    formatNewKeys(generatedKeys)
  return { text, json: { organizations, counts, generatedKeys, keptKeys, keptDefinitions } }
}

const formatKeptKeys = (keys: KeptKey[]): string =>
  keys.length === 0
    ? ''
    : `\nThe document gives these API keys otherwise than they are. They are as they were: no import changes a key.\n\n${table(
        ['ORGANIZATION', 'NAME'],
        keys.map(({ organization, name }) => [organization, name]),
      )}`

const formatKeptDefinitions = (questions: KeptDefinition[]): string =>
  questions.length === 0
    ? ''
    : `\nThe key of these questions was corrected, and the document gives it otherwise. Their definitions are as they were: no import undoes a correction.\n\n${table(
        ['ORGANIZATION', 'QUESTION'],
        questions.map(({ organization, question }) => [organization, question]),
      )}`

const formatNewKeys = (keys: GeneratedKey[]): string =>
  keys.length === 0
    ? ''
    : `\nNew API keys. Save them now: they are not stored, and not shown again.\n\n${table(
        ['ORGANIZATION', 'NAME', 'KEY'],
        keys.map(({ organization, name, key }) => [organization, name, key]),
      )}`
