import type { Context } from '../../../domain/context.ts'
import { type Html, html } from '../../../html/html.ts'
import { confirmButton } from '../kit/confirm.ts'
import { panel, pathOf } from '../kit/layout.ts'

export const NOTICES = new Map([
  ['deleted', 'All test data is deleted.'],
  ['deleting', 'The test data is being deleted: this takes a moment.'],
])

export const deleteTestData = (ctx: Context): Html =>
  panel(
    'test-data',
    'Delete the test data',
    html`<p>Deletes all test invites of ${ctx.organization.name} with their submissions, grades, results and emails, and all test tags. Assessments, members, live tags, keys and webhooks stay.</p>
${confirmButton({ label: 'Delete all test data', question: 'Delete all test data?', consequence: 'This can’t be undone.', address: pathOf(ctx, 'test-data/delete') })}`,
  )
