import type { Context } from '../../../domain/context.ts'
import type { ListedBatch } from '../../../domain/invites/batches/batches.ts'
import type { FormChoices } from '../../../domain/invites/form-options.ts'
import { MAX_BATCH_BYTES, MAX_BATCH_ROWS } from '../../../domain/limits.ts'
import { displayNameOf } from '../../../domain/text/display-name.ts'
import { type Html, html } from '../../../html/html.ts'
import { nameFilterForm } from '../kit/choices.ts'
import { time } from '../kit/formatting.ts'
import { area, type Form, mistakes } from '../kit/forms.ts'
import { type Page, pathOf } from '../kit/layout.ts'
import { empty } from '../kit/parts.ts'
import { badge } from '../kit/status.ts'
import { table } from '../kit/table.ts'
import { assessmentField, termFields } from './new-invite.page.ts'

const PATH = 'invites/batches'

/** @param assessmentId assessment whose page led here; empty if none. */
type Facts = { ctx: Context; batches: ListedBatch[]; choices: FormChoices; named: string; assessmentId: string }

export const inviteBatchesPage = (form: Form, { ctx, batches, choices, named, assessmentId }: Facts): Page => ({
  title: 'Import candidates',
  trail: [['Invites', pathOf(ctx, 'invites')]],
  body: html`${mistakes(form)}<section class="panel" aria-labelledby="list-heading">
<h2 class="mb-4" id="list-heading">A list of candidates</h2>
<p class="hint mb-4 max-w-3xl">The first row names the columns: <code>email</code> and, optionally, <code>name</code> (or <code>first name</code> and <code>last name</code>), <code>tags</code> (separated by semicolons, in quotes), <code>message</code>, <code>language</code> (such as <code>de</code>), <code>days</code> until the invite expires, <code>grader</code> (an email address), and <code>extra time</code> in percent. Other names are recognized too, and you can correct what a column means. Without such a row, each row has an email address and, optionally, a name.
Up to ${MAX_BATCH_ROWS.toLocaleString('en')} rows and ${MAX_BATCH_BYTES / 1024 / 1024} MB. You check the columns, then see a preview: nobody is invited until you confirm.</p>
${nameFilterForm(pathOf(ctx, PATH), named, Object.values(choices))}<form method="post" action="${pathOf(ctx, PATH)}" enctype="multipart/form-data">
${assessmentField(form, choices, assessmentId)}
<div class="mb-4 max-w-lg">
<label class="mb-1.5 block text-sm font-medium" for="file">File (.xlsx or .csv)</label>
<input class="file-input w-full" id="file" name="file" type="file" accept=".csv,.tsv,.txt,.xlsx">
</div>
${area(form, { name: 'list', label: 'Or paste the rows', rows: 6 })}
<details>
<summary class="py-2 text-sm font-medium">Settings for everyone</summary>
${termFields(form, choices, (_form, _label, fields) => fields)}
</details>
<p><button class="btn btn-primary">Preview list</button></p>
</form>
</section>
<section class="panel" aria-labelledby="batches-heading">
<h2 class="mb-4" id="batches-heading">Imported lists</h2>
${batches.length === 0 ? empty('upload', 'No lists yet. Choose a file above, or paste some rows.') : batchTable(ctx, batches)}
</section>`,
})

function stateOf({ startedAt, stoppedAt, finishedAt }: Pick<ListedBatch, 'startedAt' | 'stoppedAt' | 'finishedAt'>): string {
  if (finishedAt) return 'finished'
  if (stoppedAt) return 'stopped'
  return startedAt ? 'being invited' : 'not sent'
}

export const creatorOf = ({ createdBy, createdByKeyId }: Pick<ListedBatch, 'createdBy' | 'createdByKeyId'>): string =>
  createdBy === null || createdByKeyId !== null ? 'an API key' : displayNameOf(createdBy.user)

export const nameOfBatch = ({ fileName }: Pick<ListedBatch, 'fileName'>): string => fileName || 'Pasted list'

const batchTable = (ctx: Context, batches: ListedBatch[]): Html =>
  table(
    'batches-heading',
    ['File', 'Uploaded', 'Assessment', 'By', 'Status'],
    batches.map(({ id, createdAt, fileName, assessment, createdBy, createdByKeyId, startedAt, stoppedAt, finishedAt }) => [
      html`<a href="${pathOf(ctx, `${PATH}/${id}`)}">${nameOfBatch({ fileName })}</a>`,
      time(createdAt),
      assessment.name,
      creatorOf({ createdBy, createdByKeyId }),
      badge(stateOf({ startedAt, stoppedAt, finishedAt })),
    ]),
  )
