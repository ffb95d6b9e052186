import type { Context } from '../../../domain/context.ts'
import { type Html, html } from '../../../html/html.ts'
import { confirmation } from '../kit/confirm.ts'
import { panel, pathOf } from '../kit/layout.ts'

/** What has just been done, on the first page of test data. */
export const NOTICES = new Map([
  ['deleted', 'All test data are deleted.'],
  ['deleting', 'Much of the test data is deleted, and the rest is being deleted: it takes a moment.'],
])

/** The way to be rid of test data. */
export const deleteTestData = (ctx: Context): Html =>
  panel(
    'test-data',
    'Delete the test data',
    html`<p>All test invites of ${ctx.organization.name} with what was sent in for them, grades, results and mails. Assessments, members, tags, keys and webhooks stay as they are.</p>
${confirmation({ label: 'Delete all test data', question: 'Delete all test data?', consequence: 'That can not be undone.', address: pathOf(ctx, 'test-data/delete') })}`,
  )
