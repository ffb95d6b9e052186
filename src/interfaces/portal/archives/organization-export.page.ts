import { ARCHIVE_DAYS } from '../../../domain/archives/archives.ts'
import { MAX_ARCHIVES, MAX_EXPORT_BYTES } from '../../../domain/archives/request-archive.ts'
import { may } from '../../../domain/authorization/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import { type Html, html } from '../../../html/html.ts'
import { type Form, mistakes } from '../kit/forms.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'
import { onceField } from '../kit/once.ts'
import { copyBox, factList } from '../kit/parts.ts'

export const ORGANIZATION_EXPORT = 'settings/export'

type Facts = { ctx: Context; bytes: number; isTooLarge: boolean }

export const organizationExportPage = (form: Form, { ctx, bytes, isTooLarge }: Facts): Page => ({
  title: 'Export the organization',
  subtitle: ctx.organization.name,
  trail: [['Settings', pathOf(ctx, 'settings')]],
  body: html`${mistakes(form)}${panel(
    'contents',
    'Contents',
    html`${factList([
      [
        'Included',
        'Candidates and their answers, photos, and recordings; grades and results; assessments and the library; members; settings; the audit log',
      ],
      ['Transcripts', may(ctx, 'read_transcripts') ? 'Included' : 'Left out, because you may not read them'],
      ['Left out', 'API keys, webhooks, single sign-on, recruiting systems, passwords, and sessions'],
      ['Photos and recordings', formatSize(bytes)],
    ])}
<p class="hint mt-3">You can read the file with any program, and the operator of another installation can import it.</p>`,
  )}${isTooLarge ? commandPanel(ctx) : requestPanel(ctx)}`,
})

const requestPanel = (ctx: Context): Html =>
  panel(
    'ask',
    'New export',
    html`<p>A ZIP file. Only you can download it, once, within ${ARCHIVE_DAYS} days. Then it is deleted. If a candidate or member is erased before that, it is deleted at once. You can create at most ${MAX_ARCHIVES.organization} exports in 24 hours.</p>
<p class="mt-3">The file is not encrypted: keep it in a safe place.</p>
<form class="mt-3" method="post" action="${pathOf(ctx, ORGANIZATION_EXPORT)}">${onceField()}
<button class="btn btn-primary">Create export</button>
</form>`,
  )

const commandPanel = (ctx: Context): Html =>
  panel(
    'command',
    'Too large for a download',
    html`<p class="mb-3">Downloads are limited to ${MAX_EXPORT_BYTES / 1e9} GB of photos and recordings. Ask the operator of this installation to run this command, and to hand you the file:</p>
${copyBox('export-command', `npm run cli -- org export ${ctx.organization.id} organization.zip`)}`,
  )

const formatSize = (bytes: number): string => (bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`)
