import type { Context } from '../../../domain/context.ts'
import { type Html, html } from '../../../html/html.ts'
import { confirmation } from '../kit/confirm.ts'
import { panel, pathOf } from '../kit/layout.ts'

/** What has just been done, on the first page of test data. */
export const NOTICES = new Map([
  ['deleted', 'All test data is deleted.'],
  ['deleting', 'The test data is being deleted: this takes a moment.'],
])

/** The way to be rid of test data. */
export const deleteTestData = (ctx: Context): Html =>
  panel(
    'test-data',
    'Delete the test data',
    html`<p>Deletes all test invites of ${ctx.organization.name} with their submissions, grades, results and emails, and all test tags. Assessments, members, live tags, keys and webhooks stay.</p>
${confirmation({ label: 'Delete all test data', question: 'Delete all test data?', consequence: 'This can’t be undone.', address: pathOf(ctx, 'test-data/delete') })}`,
  )
