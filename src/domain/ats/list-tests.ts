import { authorize } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'

/** An assessment as an ATS has it chosen from a list. */
export type AtsTest = { id: string; name: string }

/** The first characters of ids are the time, and may be equal. */
const TOLD_OF_ID = 8

/** True if candidates can be sent to the assessment: it has questions. */
export const isReady = ({ deps }: Pick<Context, 'deps'>, { questionCount }: { questionCount: number }): boolean =>
  questionCount > 0 || !deps.hasOwnPlayer

/** Assessments that recruiters can choose, without archived ones, by name. Names are unique, because recruiters see nothing else. */
export async function listTests(ctx: Context): Promise<AtsTest[]> {
  authorize(ctx, 'read')
  const ready = ctx.db
    .selectFrom('assessments')
    .where('archivedAt', 'is', null)
    .where('questionCount', '>=', ctx.deps.hasOwnPlayer ? 1 : 0)
  const tests = await ready.select(['id', 'name']).orderBy('name').orderBy('id').execute()
  const ofName = Map.groupBy(tests, ({ name }) => name)
  return tests.map(({ id, name }) => ({ id, name: ofName.get(name)!.length > 1 ? `${name} (${id.slice(-TOLD_OF_ID)})` : name }))
}
