import { sql } from '../../db/builder.ts'
import type { Rows } from '../../db/own.ts'

/** The newest version of each text that an organization has written in these languages, of the rows' organizations. */
export const newestTexts = (rows: Rows<'mailTemplates'>, languages: readonly string[]) =>
  rows
    .distinctOn(['mailTemplates.organizationId', 'mailTemplates.language'])
    .select(['mailTemplates.id', 'mailTemplates.organizationId', 'mailTemplates.language'])
    .select(['mailTemplates.version', 'mailTemplates.subject', 'mailTemplates.body'])
    .where('mailTemplates.language', '=', sql<string>`any(${languages}::text[])`)
    .orderBy('mailTemplates.organizationId')
    .orderBy('mailTemplates.language')
    .orderBy('mailTemplates.version', 'desc')
