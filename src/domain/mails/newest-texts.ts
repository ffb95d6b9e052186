import { sql } from '../../db/builder.ts'
import type { Rows } from '../../db/own.ts'
import { slotOf, type TextPlace } from './template-places.ts'

/** The newest version of each text that there is for these places, of the rows' organizations. */
export const newestTexts = (rows: Rows<'mailTemplates'>, places: readonly TextPlace[]) =>
  rows
    .distinctOn(['mailTemplates.organizationId', 'mailTemplates.language'])
    .select(['mailTemplates.id', 'mailTemplates.organizationId', 'mailTemplates.language as slot'])
    .select(['mailTemplates.version', 'mailTemplates.subject', 'mailTemplates.body'])
    .where('mailTemplates.language', '=', sql<string>`any(${[...new Set(places.map(slotOf))]}::text[])`)
    .orderBy('mailTemplates.organizationId')
    .orderBy('mailTemplates.language')
    .orderBy('mailTemplates.version', 'desc')
