import type { Context } from '../../../domain/context.ts'
import { type Html, html } from '../../../html/html.ts'
import { icon } from '../../../http/pages/icon.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'
import { type SettingsPage, settingsOf } from '../kit/settings-pages.ts'

export const settingsIndexPage = (ctx: Context): Page => ({
  title: 'Settings',
  subtitle: 'For everybody in the organization. Your own settings are under My account.',
  body: html`<div class="-mb-6 gap-6 lg:columns-2">${settingsOf(ctx).map(
    ({ id, label, pages }) =>
      html`<div class="mb-6 break-inside-avoid">${panel(id, label, html`<ul class="divide-base-300 -mx-5 -mb-5 divide-y">${pages.map((page) => entry(ctx, page))}</ul>`)}</div>`,
  )}</div>`,
})

const entry = (ctx: Context, { path, icon: name, label, about }: SettingsPage): Html =>
  html`<li><a class="hover:bg-base-200 flex items-center gap-4 px-5 py-3" href="${pathOf(ctx, path)}"><span class="text-base-content/70">${icon(name, 'size-5')}</span><span class="min-w-0 grow"><span class="block font-medium">${label}</span><span class="text-base-content/70 block text-sm">${about}</span></span>${icon('chevron-right')}</a></li>\n`
