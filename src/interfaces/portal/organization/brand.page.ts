import type { Context } from '../../../domain/context.ts'
import { MAX_LOGO, MAX_LOGO_BYTES } from '../../../domain/limits.ts'
import type { Brand } from '../../../domain/ports/brand.ts'
import { type Scheme, themeOf } from '../../../html/brand.ts'
import { type Html, html, toText } from '../../../html/html.ts'
import { pageHead } from '../../../http/pages/brand.ts'
import { assets } from '../kit/assets.ts'
import { type Form, field, mistakes, seenField } from '../kit/forms.ts'
import { formatIssue } from '../kit/issue-messages.ts'
import { type Page, panel, pathOf, settingsPanel } from '../kit/layout.ts'

const SCHEMES = ['light', 'dark'] as const satisfies Scheme[]
/** Previews, each in light and dark. */
const PARTS = { page: 'The page', mail: 'The email' } as const

/** @property brand saved settings. @property shown settings with the typed values, for a preview. */
type Facts = { ctx: Context; brand: Brand & { updatedAt: Date }; shown: Brand; done: string }

export function brandPage(form: Form, { ctx, brand, shown, done }: Facts): Page {
  const address = pathOf(ctx, BRAND_SETTINGS)
  return {
    title: 'Colors and logo',
    subtitle: 'For your candidates’ pages and emails. The portal stays as it is.',
    trail: [['Settings', pathOf(ctx, 'settings')]],
    notice: done === 'saved' ? 'Saved. Pages and emails use it from now on.' : undefined,
    script: assets.brand,
    body: html`${mistakes(form)}${settingsPanel('colors', 'Colors', 'Colors are made darker or lighter where needed, so that text stays readable.', colors(form, address, brand, shown))}${settingsPanel(
      'logo-part',
      'Logo',
      'Beside your name, at the top of pages and emails. Emails already sent show a replaced logo for a year.',
      logo(form, address, brand),
    )}${panel('preview', 'Preview', previews(address, shown))}`,
  }
}

export const BRAND_SETTINGS = 'settings/brand'

const colors = (
  form: Form,
  address: string,
  brand: Brand & { updatedAt: Date },
  shown: Brand,
): Html => html`<form method="post" action="${address}">
${seenField(form, brand)}
${field(form, { name: 'primaryColor', label: 'Buttons and links', hint: '# and six hexadecimal digits. Empty: the service’s own color.', value: brand.primaryColor ?? '', optional: true })}
${field(form, { name: 'backgroundColor', label: 'Background of the header', hint: 'Empty: the color of the page.', value: brand.backgroundColor ?? '', optional: true })}
<div class="flex flex-wrap gap-2"><button class="btn btn-primary">Save</button><button class="btn" formmethod="get" formnovalidate>Preview</button></div>
</form>
${adjustedColors(shown)}`

/** The colors as pages show them: those without enough contrast are adjusted. */
function adjustedColors(shown: Brand): Html | false {
  const lines = SCHEMES.flatMap((scheme) => {
    const { primary, head } = themeOf(shown, scheme)
    return [
      shown.primaryColor !== null && line(`Buttons and links on ${scheme} pages`, shown.primaryColor, primary),
      shown.backgroundColor !== null && line(`The header of ${scheme} pages`, shown.backgroundColor, head),
    ]
  })
  return lines.some(Boolean) && html`<ul class="mt-4 space-y-1 text-sm" id="outcome">${lines}</ul>`
}

const line = (where: string, chosen: string, color: string | null): Html | false =>
  color !== null &&
  html`<li>${swatch(color)}${where}: ${color === chosen ? html`<code>${color}</code>, as chosen` : html`<code>${chosen}</code> becomes <code>${color}</code>, so that it can be read`}</li>`

/** SVG, because the page's policy forbids inline styles. */
const swatch = (color: string): Html =>
  html`<svg class="me-2 inline size-4 align-[-0.125rem]" viewBox="0 0 16 16" aria-hidden="true"><circle cx="8" cy="8" r="7" fill="${color}" stroke="currentColor"></circle></svg>`

function logo({ issues }: Form, address: string, { logoHash }: Brand): Html {
  const wrong = issues.filter((issue) => issue.field === 'logo').map(formatIssue)
  return html`<form method="post" action="${address}/logo" enctype="multipart/form-data">
<div class="field"><label class="mb-1.5 block text-sm font-medium" for="logo">Picture</label>
<p class="hint mb-1.5" id="logo-hint">PNG or JPEG, up to ${MAX_LOGO_BYTES / 1e3} kB and ${MAX_LOGO.width} × ${MAX_LOGO.height} pixels.</p>
<input class="file-input w-full" type="file" id="logo" name="logo" accept="image/png,image/jpeg" required aria-describedby="logo-hint${wrong.length > 0 && ' logo-mistake'}" aria-invalid="${wrong.length > 0 ? 'true' : 'false'}">
${wrong.length > 0 && html`<p class="mistake" id="logo-mistake">${wrong.join(' ')}</p>`}</div>
<button class="btn">${logoHash === null ? 'Add the logo' : 'Replace the logo'}</button></form>
${logoHash !== null && html`<form method="post" action="${address}/logo/remove" class="mt-3"><button class="btn">Remove the logo</button></form>`}`
}

function previews(address: string, { primaryColor, backgroundColor }: Brand): Html {
  const colors = { primaryColor: primaryColor ?? '', backgroundColor: backgroundColor ?? '' }
  const frames = Object.entries(PARTS).flatMap(([part, label]) =>
    SCHEMES.map((scheme) => {
      const source = `${address}/preview?${new URLSearchParams({ part, scheme, ...colors })}`
      const frame = 'w-full rounded-box border border-base-300'
      return part === 'page'
        ? html`<iframe class="h-80 ${frame}" title="${label} in ${scheme}" sandbox="allow-same-origin" src="${source}"></iframe>`
        : html`<iframe class="h-144 ${frame}" title="${label} in ${scheme}" sandbox="" src="${source}"></iframe>`
    }),
  )
  return html`<p class="hint mb-4">With the colors above. Nothing is saved yet.</p>
<div class="grid gap-4 md:grid-cols-2">${frames}</div>`
}

/** Head of a candidate's page in one color scheme. @param style CSS of the unsaved colors. */
export function framedHead(brand: Brand, scheme: Scheme, style: string): string {
  const page = toText(html`<!doctype html>
<html lang="en" data-theme="${scheme}">
<head><meta charset="utf-8"><title>${PARTS.page}</title><link rel="stylesheet" href="${assets.stylesheet.address}"></head>
<body><main class="min-h-dvh p-4">${pageHead(brand, 'invites you to')}
<h1 class="mt-6 text-3xl">Customer support</h1>
<p class="mt-3">12 questions, 45 minutes. <span class="text-primary underline">What to expect</span></p>
<p class="btn btn-primary btn-lg mt-6">Accept the invitation</p></main></body></html>`)
  // The style consists of validated colors only. Templates don't allow inline styles.
  return page.replace('</head>', `<style>${style}</style></head>`)
}
