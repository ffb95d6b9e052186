import { isDatabaseAway, isDatabaseBusy } from '../../db/errors.ts'
import { affectedRows } from '../../db/statements.ts'
import { actingMember, memberColumns } from '../authorization/acting-member.ts'
import { type Context, enterOrganization, type ServiceContext } from '../context.ts'
import { DomainError } from '../errors.ts'
import { inTransaction } from '../transaction.ts'
import type { LibraryContent } from './content.ts'
import { findContentFault } from './imports.ts'
import { findOrCreate } from './save-to-library.ts'

/** Questions of one job: a few seconds of work. */
const ROWS_A_JOB = 200

/**
 * Takes some of the questions of an import that are left, in the name of who imports them. Unless it is finished then, another job goes on. Each
 * is taken together with its row's state, under the row's lock: killed in between and started again, or worked on by two processes, it is taken
 * whole, and once.
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
  const actor = actingMember(found.createdBy)
  const ctx: Context = enterOrganization({ ...service, actor }, found.organization, 'live')
  const left = { organizationId, importId, state: { in: ['ready', 'losses'] } }
  const rows = await ctx.db.libraryImportRow.findMany({ where: left, orderBy: { number: 'asc' }, take: ROWS_A_JOB })
  for (const row of rows) await importRow(ctx, importId, row)
  if (rows.length === ROWS_A_JOB) await service.deps.queue.enqueueLibraryImport(service.db, { organizationId, importId })
  else await finish(ctx, importId)
}

type Row = { number: number; name: string; category: string; question: unknown }

const importRow = (ctx: Context, importId: string, { number, name, category, question }: Row): Promise<void> =>
  inTransaction(ctx, async (inside) => {
    const left = inside.db
      .selectFrom('libraryImportRows')
      .select('number')
      .where('importId', '=', importId)
      .where('number', '=', number)
    if ((await affectedRows(left.where('state', 'in', ['ready', 'losses']).forUpdate().skipLocked())) === 0) return
    const where = { organizationId: inside.organization.id, importId, number }
    const outcome = await inTransaction(inside, (within) => take(within, question as LibraryContent)).catch((error) =>
      toRefusedRow(ctx, { importId, number }, error),
    )
    await inside.db.libraryImportRow.updateMany({ where, data: outcome })

    async function take(within: Context, content: LibraryContent) {
      const fault = findContentFault(within, content, category)
      if (fault) return { state: 'refused', notes: [fault] }
      const { libraryQuestionId, isNew } = await findOrCreate(within, content, { name, category, importId })
      return isNew ? { state: 'taken', libraryQuestionId } : { state: 'there' }
    }
  })

/**
 * A question that can not be kept, for whatever reason, keeps none of those behind it from being taken.
 *
 * @throws the error where it says nothing about the question: the database is away, or too busy, and the job is done again.
 */
function toRefusedRow({ deps, organization }: Context, row: { importId: string; number: number }, error: unknown) {
  if (isDatabaseAway(error) || isDatabaseBusy(error)) throw error
  if (!(error instanceof DomainError)) {
    deps.log.error({ err: error, organizationId: organization.id, ...row }, 'a question of an import was rejected')
    return { state: 'refused', notes: ['The service couldn’t save this question. Its operator finds the reason in the log.'] }
  }
  const [issue] = error.issues
  return { state: 'refused', notes: [issue ? `${issue.field}: ${issue.rule}` : error.kind] }
}

/** With the last of its questions: another process may be at some of them. */
async function finish({ db, deps, organization }: Context, id: string): Promise<void> {
  const where = { organizationId: organization.id, id, finishedAt: null, rows: { none: { state: { in: ['ready', 'losses'] } } } }
  await db.libraryImport.updateMany({ where, data: { finishedAt: deps.clock() } })
}
