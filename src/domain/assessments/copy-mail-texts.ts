import { insertRows } from '../../db/writes.ts'
import type { Context } from '../context.ts'

/** Copies an assessment's own mail texts to another assessment that has none: the newest version of each text. */
export async function copyMailTexts(ctx: Context, from: string, to: string): Promise<void> {
  const newest = await ctx.db
    .selectFrom('mailTemplates')
    .distinctOn(['mailTemplates.kind', 'mailTemplates.language'])
    .select(['mailTemplates.kind', 'mailTemplates.language', 'mailTemplates.subject', 'mailTemplates.body'])
    .where('mailTemplates.assessmentId', '=', from)
    .orderBy('mailTemplates.kind')
    .orderBy('mailTemplates.language')
    .orderBy('mailTemplates.version', 'desc')
    .execute()
  const { organization, actor, deps } = ctx
  const createdById = actor.kind === 'member' ? actor.id : null
  const rows = newest
    .filter(({ body }) => body !== '')
    .map((text) => ({
      ...{ id: deps.newId(), organizationId: organization.id, assessmentId: to, version: 1, ...text },
      ...{ createdById, createdAt: deps.clock() },
    }))
  if (rows.length > 0) await insertRows(ctx.db, { mailTemplates: rows }).execute()
}
