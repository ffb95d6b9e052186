import { sql } from '../../db/builder.ts'
import type { Rows } from '../../db/queries.ts'
import type { TextPlace } from './template-places.ts'

/** Newest version of each template of these kinds, languages, and assessments, and of the general ones. */
export function newestTexts(rows: Rows<'mailTemplates'>, places: readonly TextPlace[]) {
  const anyText = (values: string[]) => sql<string>`any(${[...new Set(values)]}::text[])`
  const assessmentIds = places.flatMap(({ assessmentId }) => assessmentId ?? [])
  return rows
    .distinctOn(['mailTemplates.organizationId', 'mailTemplates.kind', 'mailTemplates.language', 'mailTemplates.assessmentId'])
    .select(['mailTemplates.id', 'mailTemplates.organizationId', 'mailTemplates.kind', 'mailTemplates.language'])
    .select(['mailTemplates.assessmentId', 'mailTemplates.version', 'mailTemplates.subject', 'mailTemplates.body'])
    .where('mailTemplates.kind', '=', anyText(places.map(({ kind }) => kind)))
    .where('mailTemplates.language', '=', anyText(places.map(({ language }) => language)))
    .where(({ eb, or }) =>
      or([
        eb('mailTemplates.assessmentId', 'is', null),
        eb('mailTemplates.assessmentId', '=', sql<string>`any(${assessmentIds}::uuid[])`),
      ]),
    )
    .orderBy('mailTemplates.organizationId')
    .orderBy('mailTemplates.kind')
    .orderBy('mailTemplates.language')
    .orderBy('mailTemplates.assessmentId')
    .orderBy('mailTemplates.version', 'desc')
}
