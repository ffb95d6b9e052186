import type { Context } from '../../../domain/context.ts'
import { type Html, html } from '../../../html/html.ts'
import { icon } from '../../../http/pages/icon.ts'
import { labelKind } from '../../../kinds/labels.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'
import { table } from '../kit/table.ts'

/** Settings that a format can't express, with the number and response types of the affected questions. */
export type FormatLosses = { loss: string; responseTypes: string[]; count: number }[]
export type ExportLosses = { sheet: FormatLosses; gift: FormatLosses; moodle: FormatLosses }

type Facts = { query: URLSearchParams; total: number; isCut: boolean; losses: ExportLosses }

/** Shows what an export of the listed questions would leave out, before it is downloaded. */
export function exportPage(ctx: Context, { query, total, isCut, losses }: Facts): Page {
  const path = pathOf(ctx, 'questions')
  const countLabel = `${total.toLocaleString('en')} ${total === 1 ? 'question' : 'questions'}`
  return {
    title: 'Export questions',
    trail: [['Questions', query.size > 0 ? `${path}?${query}` : path]],
    subtitle: isCut ? `The newest ${countLabel}: the most that fit in a file.` : `${countLabel}, with their answer keys.`,
    body: html`<div class="grid items-start gap-6 lg:grid-cols-2">${panel('sheet', 'Spreadsheet', lossTable('sheet', losses.sheet, downloads(['csv', 'CSV'], ['xlsx', 'Excel'])))}
${panel('moodle', 'Moodle XML', lossTable('moodle', losses.moodle, downloads(['moodle', 'Moodle XML'])))}
${panel('gift', 'GIFT, for Moodle and others', lossTable('gift', losses.gift, downloads(['gift', 'GIFT'])))}</div>`,
  }

  function downloads(...formats: [format: string, label: string][]): Html {
    return html`<form method="post" action="${path}/export" class="mt-4 flex flex-wrap gap-2">
${[...query].map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
${formats.map(([format, label]) => html`<button class="btn" name="format" value="${format}">${icon('download')}Download ${label}</button>\n`)}
</form>`
  }
}

const lossTable = (id: string, losses: FormatLosses, downloads: Html): Html =>
  losses.length === 0
    ? html`<p>This format keeps everything about these questions.</p>${downloads}`
    : html`${table(
        `${id}-heading`,
        ['Left out', 'Answer format', 'Questions'],
        losses.map(({ loss, responseTypes, count }) => [
          loss,
          responseTypes.map(labelKind).join(', '),
          count.toLocaleString('en'),
        ]),
      )}${downloads}`
