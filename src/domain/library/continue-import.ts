import { sql } from '../../db/builder.ts'
import { isDatabaseBusy, isDatabaseUnavailable } from '../../db/errors.ts'
import { rawStatement } from '../../db/statements.ts'
import { actingMember, memberColumns } from '../authorization/acting-member.ts'
import { type Context, enterOrganization, type ServiceContext } from '../context.ts'
import { DomainError } from '../errors.ts'
import { inTransaction } from '../transaction.ts'
import type { LibraryContent } from './content.ts'
import { findContentFault } from './imports.ts'
import { findOrCreate } from './save-to-library.ts'

/** Questions of one job: a few seconds of work. */
const ROWS_A_JOB = 200
/** A transaction imports at most so many questions, and starts no further one after so many milliseconds, because it must end within 5 s. */
const ROWS_A_TRANSACTION = 20
const TRANSACTION_MS = 1_000

/**
 * Imports some of the remaining questions, in the name of the import's creator, and enqueues a job for the rest. Each transaction
 * saves questions together with the states of their rows, so that each question is imported once, even after a crash or with two processes.
 */
export async function continueImport(
  service: ServiceContext,
  { organizationId, importId }: { organizationId: string; importId: string },
): Promise<void> {
  const include = {
    createdBy: { select: memberColumns },
    organization: { select: { id: true, name: true, tier: true } },
  } as const
  const where = { organizationId_id: { organizationId, id: importId } }
  const found = await service.db.libraryImport.findUnique({ where, include })
  if (!found?.startedAt || found.finishedAt) return
  const actor = found.createdBy ? actingMember(found.createdBy) : ({ kind: 'system' } as const)
  const ctx: Context = enterOrganization({ ...service, actor }, found.organization, 'live')
  const remainingRows = { organizationId, importId, state: { in: ['ready', 'losses'] } }
  const rows = await ctx.db.libraryImportRow.findMany({ where: remainingRows, orderBy: { number: 'asc' }, take: ROWS_A_JOB })
  for (let i = 0; i < rows.length; ) i += await importRows(ctx, importId, rows.slice(i, i + ROWS_A_TRANSACTION))
  if (rows.length === ROWS_A_JOB) await service.deps.queue.enqueueLibraryImport(service.db, { organizationId, importId })
  else await finish(ctx, importId)
}

type Row = { number: number; name: string; category: string; question: unknown }

/** @returns the number of rows that need no more work. */
const importRows = (ctx: Context, importId: string, rows: Row[]): Promise<number> =>
  inTransaction(ctx, async (inside) => {
    await lockImports(inside)
    const remaining = await inside.db
      .selectFrom('libraryImportRows')
      .select('number')
      .where('importId', '=', importId)
      .where(
        'number',
        'in',
        rows.map(({ number }) => number),
      )
      .where('state', 'in', ['ready', 'losses'])
      .execute()
    const remainingNumbers = new Set(remaining.map(({ number }) => number))
    const startedAt = performance.now()
    let done = 0
    for (const row of rows) {
      if (performance.now() - startedAt > TRANSACTION_MS) break
      if (remainingNumbers.has(row.number)) await importRow(inside, importId, row)
      done++
    }
    return done
  })

/** An organization's imports take turns: two of them with the same questions in another order would deadlock. */
const lockImports = ({ db, organization }: Context) =>
  rawStatement(db, sql`select pg_advisory_xact_lock(hashtextextended(${`library import ${organization.id}`}, 0))`).execute()

async function importRow(ctx: Context, importId: string, { number, name, category, question }: Row): Promise<void> {
  const content = question as LibraryContent
  const save = async (inside: Context) => {
    const fault = findContentFault(inside, content, category)
    if (fault) return { state: 'refused', notes: [fault] }
    const { libraryQuestionId, isNew } = await findOrCreate(inside, content, { name, category, importId })
    return isNew ? { state: 'taken', libraryQuestionId } : { state: 'there' }
  }
  const data = await inTransaction(ctx, save).catch((error) => toRefusedRow(ctx, { importId, number }, error))
  await ctx.db.updateTable('libraryImportRows').where('importId', '=', importId).where('number', '=', number).set(data).execute()
}

/**
 * A question that can't be stored is skipped; the import continues.
 *
 * @throws the error if it is not about the question: the database is away or busy, and the job is retried.
 */
function toRefusedRow({ deps, organization }: Context, row: { importId: string; number: number }, error: unknown) {
  if (isDatabaseUnavailable(error) || isDatabaseBusy(error)) throw error
  if (!(error instanceof DomainError)) {
    deps.log.error({ err: error, organizationId: organization.id, ...row }, 'a question of an import was rejected')
    return { state: 'refused', notes: ['The service couldn’t save this question. Its operator finds the reason in the log.'] }
  }
  const [issue] = error.issues
  return { state: 'refused', notes: [issue ? `${issue.field}: ${issue.rule}` : error.kind] }
}

/** Finishes the import after its last question, unless another process still works on one. */
async function finish({ db, deps, organization }: Context, id: string): Promise<void> {
  const where = { organizationId: organization.id, id, finishedAt: null, rows: { none: { state: { in: ['ready', 'losses'] } } } }
  await db.libraryImport.updateMany({ where, data: { finishedAt: deps.clock() } })
}
